import { boundedData, commonData, occasionData } from './compose/data.ts';
import { cleaned } from './compose/cleaned.ts';
import { draftOfDigest } from './compose/digest.ts';
import { type Draft, factsOf, iso, sectionsOf, type Setting, told } from './compose/draft.ts';
import { named } from './compose/named.ts';
import { pastOf } from './compose/past-title.ts';
import { draftOfOccasion } from './compose/occasion.ts';
import type { Message, MessageLink } from './message.ts';
import type { Notice, NoticeOccasion } from './notice.ts';
import { cut } from './plain.ts';
import { wordsOf } from './words/of.ts';
import { knownZone } from './words/times.ts';

/** Bounds of a message's texts, in UTF-16 code units; those of title and summary are `message.ts`'s. */
const most = { title: 200, summary: 600, label: 60, value: 320, heading: 200, line: 320, name: 200, url: 2000 };
const mostFacts = 12;
const mostSections = 8;
const mostLines = 25;

/** The message of a notice, in its reader's language and zone. Names and texts of others may hold anything: what leaves is plain. */
export function compose(given: Notice): Message {
  const notice = cleaned(given);
  const setting: Setting = { words: wordsOf(notice.locale), zone: knownZone(notice.timezone), nowMs: notice.atMs };
  return finished(setting, notice, draftOf(setting, notice));
}

function draftOf(setting: Setting, notice: Notice): Draft {
  const { occasion, digest } = notice;
  if (digest !== null) return draftOfDigest(setting, notice, digest);
  if (occasion === null) return draftOfTest(setting, notice);
  return notice.kind === 'all_clear' || occasion.event === 'maintenance.all_clear'
    ? draftOfAllClear(setting, notice, occasion)
    : draftOfOccasion(setting, notice, occasion);
}

function draftOfTest({ words }: Setting, notice: Notice): Draft {
  return {
    kind: 'test',
    state: 'information',
    severity: 'minor',
    title: words.titles.test,
    sentences: [words.sentences.test],
    facts: factsOf(
      [words.labels.alert, notice.alertName === null ? null : named(words, notice.alertName)],
      [words.labels.workspace, named(words, notice.workspace.name)],
    ),
    sections: [],
    startedMs: null,
    endedMs: null,
    subjects: [],
    subjectCount: 0,
    asksForAction: false,
    openLabel: words.links.open,
    data: { ...commonData(notice), event: 'test' },
  };
}

function draftOfAllClear(setting: Setting, notice: Notice, occasion: NoticeOccasion): Draft {
  const { words } = setting;
  const { incidents = [], incidentCount = incidents.length } = occasion.details;
  const name = named(words, occasion.subjects[0]?.name ?? occasion.title, 120);
  const lines = incidents.slice(0, 20).map((title) => pastOf(words, title));
  const more = incidentCount - lines.length;
  return {
    kind: 'all_clear',
    state: 'information',
    severity: occasion.severity,
    title: words.titles.allClear(name),
    sentences: [words.sentences.allClear(incidentCount)],
    facts: factsOf(
      [words.labels.maintenance, name],
      [words.labels.ended, told(setting, occasion.endedMs ?? setting.nowMs)],
      [words.labels.alert, notice.alertName === null ? null : named(words, notice.alertName)],
      [words.labels.workspace, named(words, notice.workspace.name)],
    ),
    sections: sectionsOf({ heading: words.headings.outages, lines: more > 0 ? [...lines, words.more(more)] : lines }),
    startedMs: occasion.startedMs,
    endedMs: occasion.endedMs,
    subjects: occasion.subjects.slice(0, 20).map(({ type, id, name }) => ({ type, id, name: cut(name, most.name) })),
    subjectCount: Math.max(occasion.subjectCount, occasion.subjects.length),
    asksForAction: false,
    openLabel: words.links.open,
    data: occasionData(notice, occasion),
  };
}

/** Keeps the bounds, whatever the draft holds. */
function finished({ words, zone }: Setting, notice: Notice, draft: Draft): Message {
  return {
    id: keyOf(notice.id),
    subjectKey: keyOf(notice.subjectKey),
    kind: draft.kind,
    state: draft.state,
    severity: draft.severity,
    locale: notice.locale,
    timezone: zone,
    at: iso(notice.atMs) ?? new Date(0).toISOString(),
    startedAt: iso(draft.startedMs),
    endedAt: iso(draft.endedMs),
    title: cut(draft.title, most.title),
    summary: cut(draft.sentences.filter((sentence) => sentence !== '').join(' '), most.summary),
    facts: draft.facts
      .slice(0, mostFacts)
      .map(({ label, value }) => ({ label: cut(label, most.label), value: cut(value, most.value) })),
    sections: draft.sections.slice(0, mostSections).map(({ heading, lines }) => ({
      heading: cut(heading, most.heading),
      lines: lines.slice(0, mostLines).map((line) => cut(line, most.line)),
    })),
    links: linksOf(notice, draft, words.links),
    workspace: { id: notice.workspace.id, name: cut(notice.workspace.name, most.name) },
    subjects: draft.subjects,
    subjectCount: draft.subjectCount,
    data: boundedData(draft.data),
  };
}

function linksOf(
  { links }: Notice,
  draft: Draft,
  labels: Readonly<Record<MessageLink['purpose'], string>>,
): MessageLink[] {
  const given: readonly (readonly [MessageLink['purpose'], string | null])[] = [
    ['open', links.open],
    ['acknowledge', draft.asksForAction ? links.acknowledge : null],
    ['snooze', draft.state === 'problem' ? links.snooze : null],
    ['unsubscribe', links.unsubscribe],
  ];
  return given.flatMap(([purpose, address]) => {
    const url = address === null ? undefined : webAddress(address);
    return url === undefined ? [] : [{ purpose, label: purpose === 'open' ? draft.openLabel : labels[purpose], url }];
  });
}

/** Absolute and http(s), or none at all. */
function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  return url.href.length > most.url ? undefined : url.href;
}

function keyOf(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._:-]/gu, '-').slice(0, 100);
}
