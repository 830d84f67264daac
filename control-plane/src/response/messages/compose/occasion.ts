import type { Message } from '../message.ts';
import type { Notice, NoticeOccasion } from '../notice.ts';
import { cut, isolated, plainLine } from '../plain.ts';
import { durationParts, wholeMomentOf } from '../words/times.ts';
import type { Words } from '../words/words.ts';
import { occasionData } from './data.ts';
import { type Draft, factsOf, sectionsOf, type Setting, told } from './draft.ts';
import { endedTitle, endSentences, pastTitle, problemTitle, reasonSentences } from './titles.ts';
import { isOutage, matterOf, matterOfSubject } from './matter.ts';
import { named } from './named.ts';
import { isLong, saidOf, withStop } from './said.ts';
import type { Telling } from './telling.ts';
import { reasonOf, voteLines } from './votes.ts';

type Core = Pick<Draft, 'kind' | 'state' | 'title' | 'sentences'>;

/** A message about one thing. */
export function draftOfOccasion(setting: Setting, notice: Notice, occasion: NoticeOccasion): Draft {
  const matter = occasion.isManual ? 'incident' : matterOf(occasion.event, occasion.subjects[0]);
  const lasted = durationParts((occasion.endedMs ?? setting.nowMs) - occasion.startedMs);
  const telling: Telling = { setting, notice, occasion, matter, said: saidOf(setting.words, occasion.said), lasted };
  const core = coreOf(telling);
  return {
    ...core,
    severity: occasion.severity,
    facts: factsOfOccasion(telling, core.state),
    sections: sectionsOfOccasion(telling, core.state),
    startedMs: occasion.startedMs,
    endedMs: occasion.endedMs,
    subjects: occasion.subjects.slice(0, 20).map(({ type, id, name }) => ({ type, id, name: cut(name, 200) })),
    subjectCount: Math.max(occasion.subjectCount, occasion.subjects.length),
    asksForAction: core.state === 'problem' && !occasion.isAcknowledged,
    openLabel: occasion.incidentId === null ? setting.words.links.open : setting.words.openIncident,
    data: occasionData(notice, occasion),
  };
}

function coreOf(telling: Telling): Core {
  const { setting, notice, occasion, matter } = telling;
  const { titles, sentences } = setting.words;
  const by = occasion.by === null || occasion.by === '' ? null : named(setting.words, occasion.by, 80);
  // Nobody is to be woken twice for these, and nothing needs to be closed later.
  const state: Message['state'] = matter === 'flapping' || matter === 'quarantined' ? 'information' : 'problem';
  switch (notice.kind) {
    case 'reminder':
      return {
        kind: 'reminder',
        state,
        title: reminderTitle(telling),
        sentences: [sentences.reminder(notice.reminder ?? 1, occasion.isAcknowledged), ...reasonSentences(telling)],
      };
    case 'escalated':
      return {
        kind: 'escalated',
        state,
        title: titles.escalated(problemTitle(telling, 'still')),
        sentences: [
          // The notice counts from 0, people from 1.
          sentences.escalated((notice.step ?? 1) + 1),
          ...reasonSentences(telling),
        ],
      };
    case 'acknowledged':
      return {
        kind: 'acknowledged',
        state: 'information',
        title: titles.acknowledged(problemTitle(telling, 'now')),
        sentences: [sentences.acknowledged(by), ...reasonSentences(telling)],
      };
    case 'updated':
      return updateOf(telling, state);
    case 'resolved':
      return {
        kind: state === 'problem' ? 'resolved' : 'information',
        // What a person removed has not recovered by that; services close it by the kind.
        state: state === 'problem' && occasion.resolution !== 'removed' ? 'recovered' : 'information',
        title: endedTitle(telling),
        sentences: [...endSentences(telling, by), ...closingSentences(telling)],
      };
    case 'recovered':
      return {
        kind: 'resolved',
        state: 'recovered',
        title: endedTitle({ ...telling, occasion: { ...occasion, resolution: 'auto' } }),
        sentences: [occasion.resolution === 'manual' ? sentences.recovered : sentences.recoveredRemoved],
      };
    case 'was_down':
      return {
        kind: 'information',
        state: 'information',
        title: pastTitle(telling),
        sentences: [sentences.wasDown, ...closingSentences(telling), ...reasonSentences(telling)],
      };
    case 'opened':
    case 'information':
    case 'all_clear':
    case 'digest':
    case 'after_quiet':
    case 'test':
      return {
        kind: notice.kind === 'information' || state === 'information' ? 'information' : 'opened',
        state: notice.kind === 'information' ? 'information' : state,
        title: problemTitle(telling, 'now'),
        sentences: reasonSentences(telling),
      };
  }
}

/** What expires says how long it has, not since when that is known. */
function reminderTitle(telling: Telling): string {
  const title = problemTitle(telling, 'still');
  const { setting, occasion, lasted } = telling;
  return occasion.details.notAfterMs === undefined ? setting.words.titles.reminder(title, lasted) : title;
}

function updateOf(telling: Telling, state: Message['state']): Core {
  const { titles, sentences } = telling.setting.words;
  const { ownTitle } = telling.occasion;
  const { reason, text } = telling.notice.update ?? { reason: 'changed', text: null };
  const written = text === null ? '' : plainLine(text);
  switch (reason) {
    case 'members':
      return {
        kind: 'updated',
        state,
        title: titles.joined(problemTitle(telling, 'now')),
        sentences: [sentences.joined, ...reasonSentences(telling)],
      };
    case 'reopened':
      return {
        kind: 'updated',
        state,
        title: problemTitle(telling, 'again'),
        sentences: [sentences.reopened, ...reasonSentences(telling)],
      };
    case 'update':
    case 'changed':
      return {
        kind: 'updated',
        state: 'information',
        title: titles.updated(
          ownTitle === null ? problemTitle(telling, 'now') : named(telling.setting.words, ownTitle, 150),
        ),
        sentences: [written === '' ? sentences.changed : sentences.update(isolated(cut(written, 560)))],
      };
  }
}

/** Closing words are foreign: they stand behind words of ours that say so, in one line, and leave room for what else is said. */
const mostClosing = 320;

function closingSentences({ setting, occasion }: Telling): string[] {
  const written = plainLine(occasion.closing ?? '');
  return written === '' ? [] : [withStop(setting.words.sentences.closing(isolated(cut(written, mostClosing))))];
}

function factsOfOccasion(telling: Telling, state: Message['state']): Draft['facts'] {
  const { setting, notice, occasion, matter, said } = telling;
  const { words, nowMs } = setting;
  const { labels } = words;
  const { details, resolution, isAcknowledged, nextCheckMs } = occasion;
  const isOver = occasion.endedMs !== null;
  const reason = reasonOf(words, occasion, matter);
  const hasMore = reason !== undefined && (isOver || reason.short !== reason.whole);
  // The facts were read a moment ago: with an interval of a second, the check that they name may be due already.
  const next = isOver || nextCheckMs === null ? null : Math.max(nextCheckMs, nowMs);
  const by = occasion.by === null ? null : named(words, occasion.by, 80);
  return factsOf(
    ...timeFacts(telling),
    [labels.reason, hasMore ? reason.whole : null],
    [labels.reason, details.reason === undefined ? null : named(words, details.reason, 300)],
    [labels.said, isLong(said.written) || isSaidAbove(telling) ? null : isolated(said.written)],
    [labels.blocklist, details.provider === undefined ? null : named(words, details.provider)],
    [labels.region, details.region === undefined ? null : named(words, details.region)],
    [labels.nextCheck, next === null ? null : told(setting, next)],
    [labels.severity, state === 'problem' ? words.severities[occasion.severity] : null],
    [labels.resolvedBy, resolution === 'manual' ? by : null],
    [labels.acknowledgedBy, resolution !== 'manual' && isAcknowledged ? by : null],
    [labels.alert, notice.alertName === null ? null : named(words, notice.alertName)],
    [labels.workspace, named(words, notice.workspace.name)],
  );
}

/** Whether the summary has what a job or a service said, which is told once. */
function isSaidAbove({ notice, occasion, matter, setting }: Telling): boolean {
  if (notice.kind === 'resolved' || notice.kind === 'recovered') return false;
  if (notice.kind === 'updated' && notice.update?.reason !== 'members' && notice.update?.reason !== 'reopened')
    return false;
  return reasonOf(setting.words, occasion, matter) === undefined;
}

/** Since when, or from when to when; of what expires, when that is. */
function timeFacts({ setting, occasion, lasted }: Telling): (readonly [label: string, value: string | null])[] {
  const { words, zone, nowMs } = setting;
  const { labels } = words;
  const { notAfterMs } = occasion.details;
  if (notAfterMs !== undefined)
    return [[notAfterMs > nowMs ? labels.expires : labels.expired, wholeMomentOf(words.dates, zone, notAfterMs)]];
  const started = told(setting, occasion.startedMs);
  if (occasion.endedMs === null || occasion.resolution === 'removed')
    return [[labels.since, lasted.length === 0 ? started : words.withDuration(started, lasted)]];
  return [
    [labels.began, started],
    [labels.ended, told(setting, occasion.endedMs)],
    [labels.lasted, occasion.resolution === 'corrected' ? null : words.duration(lasted)],
  ];
}

function sectionsOfOccasion(
  { setting, notice, occasion, matter, said }: Telling,
  state: Message['state'],
): Draft['sections'] {
  const { words } = setting;
  const [first] = occasion.subjects;
  const isOne = occasion.subjectCount <= 1;
  const written = notice.update?.text ?? '';
  const isClosing = notice.kind === 'resolved' || notice.kind === 'was_down';
  return sectionsOf(
    {
      heading: words.headings.text,
      lines: isClosing ? wholeLines(occasion.closing ?? '', mostClosing, words) : wholeLines(written, 560, words),
    },
    {
      heading: words.headings.subjects,
      lines: isOne || (matter === 'incident' && occasion.subjects.length === 0) ? [] : subjectLines(setting, occasion),
    },
    {
      heading: isOne ? words.headings.probes : `${words.headings.probes}: ${named(words, first?.name, 80)}`,
      lines: state === 'recovered' ? [] : voteLines(words, occasion, matter),
    },
    {
      heading: words.labels.said,
      lines: isLong(said.written) ? linesOf(said.written, words) : [],
    },
  );
}

function subjectLines(setting: Setting, occasion: NoticeOccasion): string[] {
  const { words } = setting;
  const lines = occasion.subjects.slice(0, 20).map((subject) => {
    const matter = matterOfSubject(subject) ?? 'down';
    const name = named(words, subject.name, 80);
    const endedMs = subject.endedMs ?? (occasion.resolution === 'removed' ? null : occasion.endedMs);
    if (endedMs !== null)
      return words.lineOver(
        isOutage(matter) ? words.ended(name, matter) : name,
        durationParts(endedMs - subject.startedMs),
      );
    return words.lineLasting(words.problem(name, matter, 'now'), told(setting, subject.startedMs));
  });
  const more = occasion.subjectCount - lines.length;
  return more > 0 ? [...lines, words.more(more)] : lines;
}

const mostWritten = 24;

/** All of a text of which a summary has only the beginning, or in one line what has several. */
const wholeLines = (text: string, mostInSummary: number, words: Words): string[] =>
  text.includes('\n') || text.length > mostInSummary ? linesOf(text, words) : [];

function linesOf(text: string, words: Words): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const shown = lines.slice(0, lines.length > mostWritten ? mostWritten - 1 : mostWritten);
  const all = shown.map((line) => isolated(cut(line, 280)));
  return lines.length > shown.length ? [...all, words.more(lines.length - shown.length)] : all;
}
