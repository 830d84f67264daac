import type { ReportFrequency } from '@parallax/api-contract';
import { formatsFor, nothing, pointsOf } from '../../sla/index.ts';
import type { Formats } from '../../sla/index.ts';
import { isProvisional, longestOutages } from '../making/content.ts';
import type { Content } from '../making/content.ts';
import { barsOf, lookOf } from './bars.ts';
import type { BarLook } from './bars.ts';
import type { LatencyPicture } from './latency-pictures.ts';
import { mailWords } from './words.ts';
import type { MailWords } from './words.ts';

/** One subject as the mail shows it. */
export type SubjectFacts = {
  readonly name: string;
  readonly uptime: string;
  /** Null: nothing is compared. */
  readonly before: string | null;
  readonly look: BarLook;
  /** 0 to 1; null where nothing was measured. */
  readonly share: number | null;
  readonly bars: readonly BarLook[];
};

/** Everything that the mail says, in the words of its reader: rendered as HTML and as text. */
export type MailFacts = {
  readonly locale: 'en' | 'ru';
  readonly words: MailWords;
  readonly subject: string;
  readonly kicker: string;
  readonly title: string;
  readonly period: string;
  readonly figures: readonly (readonly [label: string, value: string])[];
  readonly target: string | null;
  readonly subjects: readonly SubjectFacts[];
  readonly more: string | null;
  readonly outages: readonly {
    readonly subject: string;
    readonly when: string;
    readonly downtime: string;
    readonly cause: string | null;
  }[];
  readonly latencies: readonly {
    readonly subject: string;
    readonly figures: string;
    readonly cid: string;
    readonly alt: string;
  }[];
  readonly notes: readonly string[];
  readonly why: string;
  readonly unsubscribeUrl: string;
};

const mostSubjects = 15;
const mostOutages = 5;

/** What a mail is sent with. */
export type MailRequest = {
  readonly content: Content;
  readonly frequency: ReportFrequency;
  readonly locale: 'en' | 'ru';
  readonly pictures: readonly LatencyPicture[];
  /** Names of the files that are attached. */
  readonly files: readonly string[];
  readonly unsubscribeUrl: string;
};

/** Says a run in the words of one reader. */
export function mailFacts({ content, frequency, locale, pictures, files, unsubscribeUrl }: MailRequest): MailFacts {
  const words = mailWords(locale);
  const formats = formatsFor(locale, content.report.timezone);
  const { report, lines, total } = content;
  const period = periodOf(content.period, formats);
  const shown = lines.slice(0, mostSubjects);
  const uptime = total.uptime === null ? words.notMeasured : formats.uptime(total.uptime);
  return {
    locale,
    words,
    subject: `${report.name}: ${uptime}, ${period}`,
    kicker: words.frequencies[frequency],
    title: report.name,
    period,
    figures: figuresOf(content, words, formats, locale),
    target: targetOf(content, words, formats),
    subjects: shown.map((line) => ({
      name: line.name,
      uptime: line.uptime === null ? words.notMeasured : formats.uptime(line.uptime),
      before: line.uptimeBefore === undefined ? null : words.before(formats.uptime(line.uptimeBefore)),
      look: lookOf(line),
      share: line.uptime,
      bars: barsOf(line),
    })),
    more: lines.length > shown.length ? words.more(lines.length - shown.length) : null,
    outages: longestOutages(content, mostOutages).map(({ subject, startedMs, endedMs, downtimeMs, cause }) => ({
      subject,
      when: endedMs === null ? `${formats.dayAndTime(startedMs)} – ${words.ongoing}` : formats.dayAndTime(startedMs),
      downtime: formats.duration(downtimeMs),
      cause,
    })),
    latencies: pictures.map(({ subject, cid, p50Ms, p95Ms }) => {
      const [median, p95] = [formats.latency(p50Ms), formats.latency(p95Ms)];
      return { subject, cid, figures: words.latency(median, p95), alt: words.latencyAlt(subject, median, p95) };
    }),
    notes: [
      ...(isProvisional(content) ? [words.provisional] : []),
      words.zone(report.timezone),
      ...(files.length === 0 ? [] : [words.attached(files.join(', '))]),
    ],
    why: words.why(report.workspaceName),
    unsubscribeUrl,
  };
}

function periodOf({ fromMs, toMs }: Content['period'], formats: Formats): string {
  const [first, last] = [formats.day(fromMs), formats.day(Math.max(fromMs, toMs - 1))];
  return first === last ? first : `${first} – ${last}`;
}

function figuresOf(
  { lines, total, totalBefore }: Content,
  words: MailWords,
  formats: Formats,
  locale: string,
): MailFacts['figures'] {
  const outages = lines.reduce((sum, line) => sum + (line.outages ?? 0), 0);
  const change =
    totalBefore === null || totalBefore.uptime === null || total.uptime === null
      ? null
      : (pointsOf(total.uptime - totalBefore.uptime, locale) ?? '');
  const changed = change === null ? nothing : change === '' ? words.unchanged : words.points(change);
  return [
    [words.uptime, formats.uptime(total.uptime)],
    ...(totalBefore === null ? [] : [[words.change, changed] as const]),
    [words.outages, formats.count(outages)],
    [words.downtime, total.downtimeMs === 0 ? words.none : formats.duration(total.downtimeMs)],
  ];
}

function targetOf({ report, lines }: Content, words: MailWords, formats: Formats): string | null {
  const judged = lines.filter(({ isMet }) => isMet !== null);
  if (report.sloTarget === null || judged.length === 0) return null;
  const met = judged.filter(({ isMet }) => isMet === true).length;
  return words.target(formats.percent(report.sloTarget), met, judged.length);
}
