import { namesOf } from '../../html/incidents.ts';
import { formatsOf } from '../../html/times.ts';
import type { Formats } from '../../html/times.ts';
import { wordsOf } from '../../html/words/languages.ts';
import type { Words } from '../../html/words/words.ts';
import type { IncidentFacts, MaintenanceFacts, NewsFacts } from '../news/news-facts.ts';
import type { Notice } from './notice.ts';
import { noticeWords } from './words.ts';

/** What a message says, in plain words of the subscriber's language. */
export type NoticeText = {
  readonly subject: string;
  /** A paragraph for each time and word, and for each paragraph of what people wrote. */
  readonly paragraphs: readonly string[];
  readonly open: string;
  readonly notes: readonly string[];
};

/** One news of a message. */
export type NoticePart = {
  /** The word of its status. */
  readonly label: string;
  readonly time: string;
  /** Paragraphs of what people wrote, or what the product says. */
  readonly texts: readonly string[];
  readonly affects: { readonly label: string; readonly names: string } | null;
};

type In = { readonly words: Words; readonly formats: Formats; readonly locale: Notice['locale'] };

export function noticeText(notice: Notice): NoticeText {
  const within = withinOf(notice);
  const own = noticeWords[notice.locale];
  const last = notice.news.at(-1);
  if (last === undefined) throw new Error('a notice tells nothing');
  return {
    subject: `[${notice.page.name}] ${titleOf(last, within)} – ${partOf(last, notice).label}`,
    paragraphs: notice.news.flatMap((facts) => {
      const { label, time, texts, affects } = partOf(facts, notice);
      return [`${label} · ${time}`, ...texts, ...(affects === null ? [] : [`${affects.label}: ${affects.names}`])];
    }),
    open: own.open,
    notes: [own.why(notice.page.name)],
  };
}

/** What a message says of one news. */
export function partOf(facts: NewsFacts, notice: Pick<Notice, 'locale' | 'page'>): NoticePart {
  const within = withinOf(notice);
  return facts.type === 'incident' ? incidentPart(facts, within) : maintenancePart(facts, within);
}

function withinOf({ locale, page }: Pick<Notice, 'locale' | 'page'>): In {
  const words = wordsOf(locale);
  return { words, formats: formatsOf(words, page.timezone), locale };
}

/** As the page itself calls it: never by what its operators call it among themselves. */
function titleOf(facts: NewsFacts, { words, formats }: In): string {
  if (facts.title !== null && facts.title.trim() !== '') return facts.title;
  const names = namesOf(formats.list, facts.component_names);
  if (facts.type === 'maintenance') return names === '' ? words.maintenance : `${words.maintenance}: ${names}`;
  return names === '' ? words.incident : words.incidentTitle(names, facts.impact);
}

function incidentPart(facts: IncidentFacts, { words, formats }: In): NoticePart {
  const names = namesOf(formats.list, facts.component_names);
  const duration = facts.resolved_ms === null ? null : formats.duration((facts.resolved_ms - facts.started_ms) / 1_000);
  const body = facts.body ?? (facts.status === 'resolved' ? words.ended(names, duration) : words.began(names));
  return {
    label: words.incidentStatus[facts.status],
    time: timeOf(facts.at_ms, formats),
    texts: paragraphsOf(body),
    affects: null,
  };
}

function maintenancePart(facts: MaintenanceFacts, { words, formats, locale }: In): NoticePart {
  const names = formats.list(facts.component_names);
  const own = noticeWords[locale];
  const span = (startMs: number, endMs: number) => `${formats.dateTime(startMs)} – ${timeOf(endMs, formats)}`;
  const before = facts.before === undefined ? [] : [own.before(span(facts.before.starts_ms, facts.before.ends_ms))];
  const isOver = facts.event === 'completed' || facts.event === 'cancelled';
  return {
    label: own.events[facts.event],
    time: span(facts.starts_ms, facts.ends_ms),
    texts: [...before, ...(facts.text === null || isOver ? [] : paragraphsOf(facts.text))],
    affects: names === '' ? null : { label: words.affects, names },
  };
}

const timeOf = (ms: number, formats: Formats): string => `${formats.dateTime(ms)}, ${formats.zone(ms)}`;

/** Markdown is read as it was written: it was made to be. */
function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
