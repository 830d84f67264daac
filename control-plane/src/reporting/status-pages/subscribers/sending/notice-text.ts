import { namesOf } from '../../html/incidents.ts';
import { formatsOf } from '../../html/times.ts';
import type { Formats } from '../../html/times.ts';
import { wordsOf } from '../../html/words/languages.ts';
import type { Words } from '../../html/words/words.ts';
import type { IncidentFacts, MaintenanceFacts, NewsFacts } from '../news/news.ts';
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

type In = { readonly words: Words; readonly formats: Formats };

export function noticeText(notice: Notice): NoticeText {
  const words = wordsOf(notice.locale);
  const own = noticeWords[notice.locale];
  const within = { words, formats: formatsOf(words, notice.page.timezone) };
  const last = notice.news.at(-1);
  if (last === undefined) throw new Error('a notice tells nothing');
  const status = last.type === 'incident' ? words.incidentStatus[last.status] : own.events[last.event];
  return {
    subject: `[${notice.page.name}] ${titleOf(last, within)} – ${status}`,
    paragraphs: notice.news.flatMap((facts) =>
      facts.type === 'incident' ? incidentParagraphs(facts, within) : maintenanceParagraphs(facts, within, own.events),
    ),
    open: own.open,
    notes: [own.why(notice.page.name)],
  };
}

/** As the page itself calls it: never by what its operators call it among themselves. */
function titleOf(facts: NewsFacts, { words, formats }: In): string {
  if (facts.title !== null && facts.title.trim() !== '') return facts.title;
  const names = namesOf(formats.list, facts.component_names);
  if (facts.type === 'maintenance') return names === '' ? words.maintenance : `${words.maintenance}: ${names}`;
  return names === '' ? words.incident : words.incidentTitle(names, facts.impact);
}

function incidentParagraphs(facts: IncidentFacts, { words, formats }: In): string[] {
  const names = namesOf(formats.list, facts.component_names);
  const duration = facts.resolved_ms === null ? null : formats.duration((facts.resolved_ms - facts.started_ms) / 1_000);
  const body = facts.body ?? (facts.status === 'resolved' ? words.ended(names, duration) : words.began(names));
  return [`${words.incidentStatus[facts.status]} · ${timeOf(facts.at_ms, formats)}`, ...paragraphsOf(body)];
}

function maintenanceParagraphs(
  facts: MaintenanceFacts,
  { words, formats }: In,
  events: Readonly<Record<MaintenanceFacts['event'], string>>,
): string[] {
  const names = formats.list(facts.component_names);
  return [
    `${events[facts.event]} · ${formats.dateTime(facts.starts_ms)} – ${timeOf(facts.ends_ms, formats)}`,
    ...(facts.text === null || facts.event === 'completed' ? [] : paragraphsOf(facts.text)),
    ...(names === '' ? [] : [`${words.affects}: ${names}`]),
  ];
}

const timeOf = (ms: number, formats: Formats): string => `${formats.dateTime(ms)}, ${formats.zone(ms)}`;

/** Markdown is read as it was written: it was made to be. */
function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
