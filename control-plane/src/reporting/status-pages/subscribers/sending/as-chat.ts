import { cut, isolated, plainLine, plainLines } from '../../../../response/messages/index.ts';
import type { Message } from '../../../../response/messages/index.ts';
import type { NewsFacts } from '../news/news-facts.ts';
import { noticeUrl } from './notice.ts';
import type { Notice } from './notice.ts';
import { noticeText, partOf } from './notice-text.ts';
import type { NoticePart } from './notice-text.ts';
import { noticeWords } from './words.ts';

// The lengths that a message may have.
const most = { title: 200, summary: 600, label: 100, value: 250, sections: 8, lines: 25, line: 1_000 } as const;

type Sent = { readonly id: string; readonly nowMs: number };

/** A notice for a room, as alerts are: each channel lays it out and escapes it for its service. */
export function noticeMessage(notice: Notice, { id, nowMs }: Sent): Message {
  const { subject, open } = noticeText(notice);
  const parts = notice.news.map((facts) => partOf(facts, notice));
  const [last, facts] = [parts.at(-1), notice.news.at(-1)];
  if (last === undefined || facts === undefined) throw new Error('a notice tells nothing');
  const [first = '', ...others] = last.texts.map(plainLines);
  // What the summary has no room for is read below it.
  const below = first.length > most.summary ? [first, ...others] : others;
  return {
    ...common(notice, { id, nowMs }),
    ...toneOf(facts),
    subjectKey: `page-${notice.page.id}-${facts.id}`,
    title: line(subject, most.title),
    summary: cut(isolated(first), most.summary),
    facts: [
      { label: line(last.label, most.label), value: line(last.time, most.value) },
      ...(last.affects === null
        ? []
        : [{ label: line(last.affects.label, most.label), value: line(last.affects.names, most.value) }]),
    ],
    sections: [
      ...(below.length > 0 ? [sectionOf({ ...last, texts: below })] : []),
      ...parts.slice(0, -1).toReversed().map(sectionOf),
    ].slice(0, most.sections),
    links: [
      { purpose: 'open', label: open, url: noticeUrl(notice) },
      { purpose: 'open', label: noticeWords[notice.locale].manage, url: notice.manageUrl },
    ],
    data: { type: 'status_page.update' },
  };
}

/** Asks a room whether it wants to be told: the button of the page that it leads to confirms it. */
export function confirmMessage(facts: Pick<Notice, 'locale' | 'manageUrl' | 'page'>, sent: Sent): Message {
  const words = noticeWords[facts.locale];
  const name = cut(isolated(plainLine(facts.page.name)), 60);
  return {
    ...common(facts, sent),
    kind: 'information',
    state: 'information',
    severity: 'minor',
    subjectKey: sent.id,
    title: words.confirmTitle(name),
    summary: cut(words.confirm(name), most.summary),
    facts: [],
    sections: [],
    links: [{ purpose: 'open', label: words.confirmLink, url: facts.manageUrl }],
    data: { type: 'status_page.challenge' },
  };
}

function common({ locale, page }: Pick<Notice, 'locale' | 'page'>, { id, nowMs }: Sent) {
  return {
    id,
    locale,
    timezone: page.timezone,
    at: new Date(nowMs).toISOString(),
    startedAt: null,
    endedAt: null,
    // Whoever subscribes knows a page, and nothing of workspaces.
    workspace: { id: 0, name: line(page.name, most.label) },
    subjects: [],
    subjectCount: 0,
  } as const;
}

/** The colours of a message: of a problem while it lasts, and of its end. */
function toneOf(facts: NewsFacts): Pick<Message, 'kind' | 'state' | 'severity'> {
  if (facts.type === 'maintenance') return { kind: 'information', state: 'information', severity: 'minor' };
  const severity = facts.impact === 'none' ? 'minor' : facts.impact;
  if (facts.status === 'resolved') return { kind: 'resolved', state: 'recovered', severity };
  if (facts.status === 'postmortem') return { kind: 'information', state: 'information', severity };
  return { kind: facts.body === null ? 'opened' : 'updated', state: 'problem', severity };
}

function sectionOf({ label, time, texts }: NoticePart): Message['sections'][number] {
  return {
    heading: line(`${label} · ${time}`, most.title),
    lines: plainLines(texts.join('\n'))
      .split('\n')
      .filter((each) => each !== '')
      .slice(0, most.lines)
      .map((each) => line(each, most.line)),
  };
}

function line(text: string, longest: number): string {
  return cut(isolated(plainLine(text)), longest);
}
