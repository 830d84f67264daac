import type { Manner } from '../words/words.ts';
import { dayOf, untilParts } from '../words/times.ts';
import { isOutage } from './matter.ts';
import { manyOf, named } from './named.ts';
import type { Telling } from './telling.ts';
import { reasonOf, seenOf } from './votes.ts';

/** What is so, in one line. */
export function problemTitle({ setting: { words, nowMs }, occasion, matter }: Telling, manner: Manner): string {
  const { subjects, subjectCount, details, title } = occasion;
  const [first] = subjects;
  const name = named(words, first?.name ?? title);
  switch (matter) {
    case 'certificate':
    case 'domain': {
      const leftMs = (details.notAfterMs ?? nowMs) - nowMs;
      return words.expiry(name, matter, leftMs <= 0 ? null : untilParts(leftMs));
    }
    case 'listed':
      return details.provider === undefined
        ? words.problem(name, matter, manner)
        : words.listed(name, named(words, details.provider), true);
    case 'offline':
    case 'quarantined':
      return words.probe(name, matter);
    case 'flapping':
      return words.flapping(name, true);
    case 'incident':
      return words.problem(named(words, title, 150), matter, manner);
    case 'down':
    case 'timeout':
    case 'missed':
    case 'not_received':
    case 'failed':
    case 'degraded':
    case 'partial':
    case 'warning':
    case 'unknown':
      return isOutage(matter) && Math.max(subjectCount, subjects.length) > 1
        ? words.problems(manyOf(words, subjects, subjectCount), manner)
        : words.problem(name, matter, manner);
  }
}

/** That it is over, and how that came. */
export function endedTitle(telling: Telling): string {
  const { setting, occasion, matter } = telling;
  const { words } = setting;
  const { subjects, subjectCount, details, resolution, title } = occasion;
  const name = named(words, subjects[0]?.name ?? title);
  if (resolution === 'corrected') return words.titles.corrected(listOfNames(telling));
  if (resolution === 'removed') return words.titles.removed(problemTitle(telling, occasion.isManual ? 'now' : 'still'));
  if (resolution !== null && resolution !== 'auto') return words.titles.closed(problemTitle(telling, 'now'));
  switch (matter) {
    case 'listed':
      return details.provider === undefined
        ? words.ended(name, matter)
        : words.listed(name, named(words, details.provider), false);
    case 'offline':
      return words.probe(name, 'online');
    case 'quarantined':
      return words.probe(name, 'released');
    case 'flapping':
      return words.flapping(name, false);
    case 'incident':
      return words.titles.closed(named(words, title, 150));
    case 'down':
    case 'timeout':
    case 'missed':
    case 'not_received':
    case 'failed':
    case 'degraded':
    case 'partial':
    case 'warning':
    case 'unknown':
    case 'certificate':
    case 'domain':
      return isOutage(matter) && Math.max(subjectCount, subjects.length) > 1
        ? words.endedMany(manyOf(words, subjects, subjectCount))
        : words.ended(name, matter);
  }
}

/** What was so while nobody could be told. */
export function pastTitle(telling: Telling): string {
  const { setting, occasion, matter, lasted } = telling;
  const { words } = setting;
  if (Math.max(occasion.subjectCount, occasion.subjects.length) > 1)
    return words.wasMany(manyOf(words, occasion.subjects, occasion.subjectCount));
  const name = named(words, matter === 'incident' ? occasion.title : (occasion.subjects[0]?.name ?? occasion.title));
  return words.was(name, matter, lasted);
}

function listOfNames({ setting: { words }, occasion }: Telling): string {
  if (occasion.isManual || occasion.subjects.length === 0) return named(words, occasion.title, 150);
  const { names, count } = manyOf(words, occasion.subjects, occasion.subjectCount);
  return names.length === 1 && count === 1
    ? named(words, occasion.subjects[0]?.name)
    : words.list(names, count - names.length);
}

/** Why, and who saw it. */
export function reasonSentences({ setting, occasion, matter, said }: Telling): string[] {
  const { words, zone, nowMs } = setting;
  const { sentences } = words;
  const { details, missing } = occasion;
  switch (matter) {
    case 'certificate':
    case 'domain': {
      const endMs = details.notAfterMs ?? nowMs;
      const date = dayOf(words.dates, zone, endMs);
      const ended = matter === 'certificate' ? sentences.certificateEnded : sentences.domainEnded;
      return [endMs <= nowMs ? ended(date) : sentences[matter](date)];
    }
    case 'listed':
      return details.provider === undefined ? [] : [sentences.listed(named(words, details.provider))];
    case 'offline':
      return [sentences.offline];
    case 'quarantined':
      return [sentences.quarantined];
    case 'flapping':
      return [sentences.flapping];
    case 'down':
    case 'timeout':
    case 'missed':
    case 'not_received':
    case 'failed':
    case 'degraded':
    case 'partial':
    case 'warning':
    case 'unknown':
    case 'incident': {
      const reason = reasonOf(words, occasion, matter);
      const seen = seenOf(words, occasion, matter);
      const explanation = said.sentences.length > 0 ? said.sentences : [words.explanations[matter] ?? ''];
      const silent = missing.slice(0, 5).map((probe) => named(words, probe, 60));
      return [
        ...(reason === undefined ? explanation : [sentences.reason(reason.short)]),
        ...(seen === undefined ? [] : [sentences.seenFrom(seen)]),
        ...(silent.length === 0 ? [] : [sentences.silent(words.list(silent, missing.length - silent.length))]),
      ];
    }
  }
}

/** How it ended, and how long it lasted. */
export function endSentences(telling: Telling, by: string | null): string[] {
  const { setting, occasion, matter, lasted } = telling;
  const { sentences } = setting.words;
  if (occasion.resolution === 'removed') {
    return [sentences.removedBy(by, occasion.isManual ? null : problemTitle(telling, 'still'))];
  }
  const how: Readonly<Record<string, string>> = {
    manual: sentences.closedBy(by),
    paused: sentences.paused,
    deleted: sentences.deleted,
    folded: sentences.folded,
    reset: sentences.reset,
    corrected: sentences.corrected,
  };
  const { resolution, details } = occasion;
  const told = resolution !== null && Object.hasOwn(how, resolution) ? how[resolution] : undefined;
  if (resolution === 'corrected') return [sentences.corrected];
  const special =
    matter === 'flapping'
      ? sentences.stable
      : matter === 'offline'
        ? sentences.online
        : matter === 'quarantined'
          ? sentences.released
          : matter === 'listed' && details.provider !== undefined
            ? sentences.delisted(named(setting.words, details.provider))
            : undefined;
  return [
    ...(told === undefined ? [] : [told]),
    ...(special === undefined ? [] : [special]),
    ...(special === undefined ? [sentences.lasted(lasted)] : []),
  ];
}
