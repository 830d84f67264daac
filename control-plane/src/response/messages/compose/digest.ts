import type { Message } from '../message.ts';
import type { Notice, NoticeDigest, NoticeLine } from '../notice.ts';
import { durationParts } from '../words/times.ts';
import { digestData } from './data.ts';
import { type Draft, factsOf, sectionsOf, type Setting, told } from './draft.ts';
import { isOutage, matterOf } from './matter.ts';
import { named } from './named.ts';
import { withStop } from './said.ts';

const bySeverity: readonly Message['severity'][] = ['minor', 'major', 'critical'];

/** Many things in one message: a minute in which too much happened, or the end of quiet hours. */
export function draftOfDigest(setting: Setting, notice: Notice, digest: NoticeDigest): Draft {
  const { words } = setting;
  const isAfterQuiet = notice.kind === 'after_quiet';
  const lasting = digest.lines.filter(({ endedMs }) => endedMs === null);
  const over = digest.lines.filter(({ endedMs }) => endedMs !== null);
  const title = isAfterQuiet ? words.titles.afterQuiet : words.titles.digest;
  return {
    kind: 'digest',
    // What must be looked at wakes people; that things are over does not.
    state: digest.lasting > 0 ? 'problem' : isAfterQuiet ? 'information' : 'recovered',
    severity: bySeverity[Math.max(0, ...lasting.map(({ severity }) => bySeverity.indexOf(severity)))] ?? 'minor',
    title: title(digest.lasting, digest.over),
    sentences: [
      namesOf(setting, lasting, digest.lasting),
      isAfterQuiet ? words.sentences.afterQuiet : words.sentences.digest(digest.count),
    ],
    facts: factsOf(
      [words.labels.alert, notice.alertName === null ? null : named(words, notice.alertName)],
      [words.labels.workspace, named(words, notice.workspace.name)],
    ),
    sections: sectionsOf(
      { heading: words.headings.lasting, lines: linesOf(setting, lasting, digest.lasting) },
      { heading: words.headings.over, lines: linesOf(setting, over, digest.over) },
    ),
    startedMs: null,
    endedMs: null,
    subjects: [],
    subjectCount: digest.count,
    asksForAction: false,
    openLabel: words.links.open,
    data: digestData(notice, digest),
  };
}

/** What must be looked at, as one sentence: all that fits on a locked telephone. */
function namesOf({ words }: Setting, lines: readonly NoticeLine[], count: number): string {
  const names = lines.slice(0, 5).map(({ name, title }) => named(words, name ?? title, 60));
  return names.length === 0 ? '' : withStop(words.list(names, Math.max(0, count - names.length)));
}

function linesOf(setting: Setting, lines: readonly NoticeLine[], count: number): string[] {
  const shown = lines.slice(0, 20).map((line) => lineOf(setting, line));
  const more = count - shown.length;
  return more > 0 ? [...shown, setting.words.more(more)] : shown;
}

function lineOf(setting: Setting, line: NoticeLine): string {
  const { words } = setting;
  const what = whatOf(setting, line);
  if (line.endedMs !== null) return words.lineOver(what, durationParts(line.endedMs - line.startedMs));
  return words.lineLasting(what, told(setting, line.startedMs));
}

function whatOf({ words }: Setting, { event, title, name, subjectCount, endedMs }: NoticeLine): string {
  const matter = matterOf(event, undefined);
  if (name === null || matter === 'incident') return named(words, title, 120);
  const shown = named(words, name, 80);
  if (isOutage(matter) && subjectCount > 1) {
    const many = { count: subjectCount, counted: 'check', names: [shown] } as const;
    return endedMs === null ? words.problems(many, 'now') : words.endedMany(many);
  }
  return endedMs === null ? words.problem(shown, matter, 'now') : words.ended(shown, matter);
}
