import type { Mutant } from './mutants.ts';

/**
 * Mutants that do what the code does, whatever happens: no test can tell them. One that no longer exists fails the run, and `--listed` tells
 * of one that a test does notice.
 */
export type Equivalent = {
  readonly file: string;
  /** Absent: whatever the operator. */
  readonly operator?: string;
  /** The line of the source, without its indentation. Absent: any. */
  readonly text?: string;
  readonly before?: string;
  readonly after?: string;
  /** Absent: all in the file that are alike so far. */
  readonly nth?: number;
  readonly because: string;
};

/** What is changed in one line; without `nth` wherever such a line has it. */
function inLine(
  file: string,
  text: string,
  changes: readonly (readonly [before: string, after: string, nth?: number])[],
  because: string,
): Equivalent[] {
  return changes.map(([before, after, nth]) => ({
    file,
    text,
    before,
    after,
    ...(nth === undefined ? {} : { nth }),
    because,
  }));
}

const consensus = 'control-plane/src/monitoring/consensus';
const judge = 'control-plane/src/monitoring/probes/quarantine/judge.ts';
const ingest = 'control-plane/src/monitoring/check-results/ingest';
const packed = 'control-plane/src/monitoring/check-results/packed';
const sla = 'control-plane/src/reporting/sla';
const statistics = 'control-plane/src/reporting/statistics';

const moreRoom = 'room that is not needed, or made once more, changes no answer';
const kept = 'it is kept to save work, and made anew it is the same';
const untilSettled = 'until it was settled nothing repeats, whatever it says';
const longWay = 'without a row that repeats, or after one, the walk over all rows comes to the same';
const again = 'what is equal already may be set again';
const beyondLast = 'what is written beyond the last number that is used is read by nobody';
const beforeFirst = 'before the first number there is no place: what is written there is gone';
const forTypes = 'only the type checker asks for it: what it stands in for is always there';

export const equivalents: readonly Equivalent[] = [
  // ---- consensus
  ...inLine(
    `${consensus}/uptime.ts`,
    'const status = range === null ? undefined : inputs.ranges[range]?.status;',
    [
      ['range === null', 'false'],
      ['?.', '.'],
    ],
    'there is no range with the index null, and one with every other',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'const cursors = voters.map(() => 0);',
    [['0', 'undefined']],
    'a cursor that is not set begins at 0 as well',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'if (electorate === undefined || t >= nextChangeUs) {',
    [
      ['electorate === undefined || t >= nextChangeUs', 'true'],
      ['===', '!=='],
    ],
    'between two changes of the inputs the electorate is the same; it is kept to save work',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'nextChangeUs = inputs.nextChangeAfter(t);',
    [['nextChangeUs = inputs.nextChangeAfter(t);', '']],
    'between two changes of the inputs the electorate is the same; it is kept to save work',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'if (t > fromUs && t < toUs) instants.push(t);',
    [['>', '>=']],
    'an instant that is there twice is one',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'return instants.filter((t, index) => t !== instants[index - 1]);',
    [
      ['instants.filter((t, index) => t !== instants[index - 1])', 'instants'],
      ['-', '+'],
      ['1', '2'],
    ],
    'an instant that is there twice makes an empty piece, which its neighbour of equal status takes in',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'let cursor = cursors[index] ?? 0;',
    [
      ['cursors[index] ?? 0', 'cursors[index]'],
      ['cursors[index] ?? 0', '0'],
      ['0', '1'],
      ['0', '(-1)'],
    ],
    'every voter has a cursor, and from 0 on it finds the same piece with more steps',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'while ((pieces[cursor]?.toUs ?? Number.POSITIVE_INFINITY) <= t) cursor += 1;',
    [['pieces[cursor]?.toUs ?? Number.POSITIVE_INFINITY', 'pieces[cursor]?.toUs']],
    'what there is not is not before any time',
  ),
  ...inLine(
    `${consensus}/sweep.ts`,
    'cursors[index] = cursor;',
    [['cursors[index] = cursor;', '']],
    'from 0 on it finds the same piece with more steps',
  ),
  ...inLine(
    `${consensus}/range-diff.ts`,
    'const head = stored.find((range) => range.startedUs < fromUs && (range.endedUs === null || range.endedUs >= fromUs));',
    [['find', 'findLast']],
    'of disjoint ranges at most one holds just before a time',
  ),
  ...inLine(
    `${consensus}/rechecks.ts`,
    '(electorate.regionOf.get(other.voter) === region ? 2 : 0) + (other.isHolding ? 0 : 1);',
    [
      ['2', '3'],
      ['0', '(-1)', 1],
    ],
    'what is in the same region still comes after all others',
  ),
  ...inLine(
    `${consensus}/voter-state.ts`,
    'if (streak?.confirmed) return failingVote(streak, row.eUs);',
    [['?.', '.']],
    'after a failure there is a streak',
  ),
  ...inLine(
    `${consensus}/voter-state.ts`,
    'confirmed: (before?.confirmed ?? false) || count >= inputs.configurationAt(row.eUs).confirmations,',
    [['before?.confirmed ?? false', 'before?.confirmed']],
    'undefined is no confirmation either',
  ),
  ...inLine(
    `${consensus}/voter-state.ts`,
    "case 'skipped':",
    [["'skipped'", "''"]],
    'what was skipped never gets here (`canVote`); the case is for the type checker',
  ),
  ...inLine(
    `${consensus}/rechecks.ts`,
    'return voter === centralVoter ? electorate.seats.includes(centralVoter) : electorate.regionOf.has(voter);',
    [['voter === centralVoter', 'false']],
    'the control plane has a region exactly where it has the seat',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    'const central = slots.find((slot) => slot.voter === centralVoter);',
    [['find', 'findLast']],
    'a voter has one slot',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    'const slot = slots.find((candidate) => candidate.voter === voter);',
    [['find', 'findLast']],
    'a voter has one slot',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    'const isHolding = slot?.isHolding ?? false;',
    [['slot?.isHolding ?? false', 'slot?.isHolding']],
    'it is only asked whether it holds',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    'const changedUs = inputs.changes.findLast((change) => change <= frontierUs) ?? inputs.floorUs;',
    [
      [
        'inputs.changes.findLast((change) => change <= frontierUs) ?? inputs.floorUs',
        'inputs.changes.findLast((change) => change <= frontierUs)',
      ],
    ],
    'where somebody is assigned, the assignment is such a change',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    'if (voter.endedUs <= changedUs) break;',
    [['<=', '<']],
    'a vote that ended with the change would give the time of the change as well',
  ),
  ...inLine(
    `${consensus}/standing.ts`,
    '.map(({ toUs }) => toUs ?? Number.NEGATIVE_INFINITY)',
    [['toUs ?? Number.NEGATIVE_INFINITY', 'toUs']],
    'null counts as 1970, and nothing began before that',
  ),
  ...inLine(
    `${consensus}/decide.ts`,
    'return Math.max(1, Math.min(seats, Math.max(2, Math.floor(seats / 2) + 1)));',
    [['2', '1', 1]],
    'from two seats on more than half of them are two at least, and of one seat there are no two',
  ),
  ...inLine(
    `${consensus}/decide.ts`,
    "else if (piece.vote === 'WARNING') warned += 1;",
    [['1', '2']],
    'it is only asked whether there is any',
  ),
  ...inLine(`${consensus}/decide.ts`, 'regions = 2;', [['2', '3']], 'more than two regions are never asked for'),
  ...inLine(
    `${consensus}/decide.ts`,
    'electorate.quarantined.size === 0 ? held : held.filter(({ voter }) => !electorate.quarantined.has(voter));',
    [
      ['electorate.quarantined.size === 0', 'false'],
      ['0', '(-1)'],
    ],
    'where nobody is in quarantine nobody is left out',
  ),
  ...inLine(
    `${consensus}/decide.ts`,
    'if (isFallback && electors.length > 1 && electors[0]?.voter === centralVoter) return electors.slice(1);',
    [['?.', '.']],
    forTypes,
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'isSilent = false;',
    [['false', 'true']],
    'whoever makes a planner says whether it is silent before anything happens',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'const was = before.get(slot) ?? null;',
    [['before.get(slot) ?? null', 'before.get(slot)']],
    'every slot was noted a moment before',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'const streak = final?.streak ?? null;',
    [['final?.streak ?? null', 'final?.streak', 2]],
    'without a final state nothing is asked of its streak',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'const intervalS = scene.inputs.configurationAt(scene.frontierUs).intervalS ?? Number.POSITIVE_INFINITY;',
    [
      [
        'scene.inputs.configurationAt(scene.frontierUs).intervalS ?? Number.POSITIVE_INFINITY',
        'scene.inputs.configurationAt(scene.frontierUs).intervalS',
      ],
    ],
    'what is no number is not at most half a minute either',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'if (!isFailing || intervalS * 1_000_000 <= recheckEveryUs) return;',
    [['1_000_000', '999999']],
    'intervals are whole seconds',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'const slot = scene.slots.find((candidate) => candidate.voter === voter);',
    [['find', 'findLast']],
    'a voter has one slot',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'isHolding: slot?.isHolding ?? false,',
    [['slot?.isHolding ?? false', 'slot?.isHolding']],
    'it is only asked whether it holds',
  ),
  ...inLine(
    `${consensus}/recheck-planner.ts`,
    'isFailing: slot?.isFailing ?? false,',
    [['slot?.isFailing ?? false', 'slot?.isFailing']],
    'it is only asked whether it fails',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'for (let index = spans.length - 1; index >= 0; index -= 1) {',
    [
      ['-', '+'],
      ['1', '0', 1],
      ['0', '(-1)'],
    ],
    'where there is no span nothing is found, and the search goes on',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'this.presentUntil(row.voter, row.eUs) > row.eUs &&',
    [['>', '>=']],
    'the right to vote ends later than the instant, or there is none',
  ),
  ...inLine(`${consensus}/prepared-inputs.ts`, 'if (spans === undefined) {', [['spans === undefined', 'true']], kept),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'this.#presence.set(voter, spans);',
    [['this.#presence.set(voter, spans);', '']],
    kept,
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'merged[merged.length - 1] = { fromUs: last.fromUs, toUs: Math.max(last.toUs, span.toUs) };',
    [['1', '0']],
    'the shorter span before it begins with it and is never the last that does',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'if (hole.toUs <= fromUs || hole.fromUs >= span.toUs) continue;',
    [
      ['<=', '<'],
      ['>=', '>'],
    ],
    'what only touches the span cuts nothing out of it',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'if (hole.fromUs > fromUs) kept.push({ fromUs, toUs: hole.fromUs });',
    [
      ['hole.fromUs > fromUs', 'true'],
      ['>', '>='],
    ],
    'in an empty span nobody may vote either',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    'if (fromUs < span.toUs) kept.push({ fromUs, toUs: span.toUs });',
    [
      ['fromUs < span.toUs', 'true'],
      ['<', '<='],
    ],
    'in an empty span nobody may vote either',
  ),
  ...inLine(
    `${consensus}/prepared-inputs.ts`,
    "differenceOf(a.pauses, b.pauses, () => ''),",
    [
      ["''", 'undefined'],
      ["''", "'other'"],
    ],
    'pauses are told from one another by their start alone',
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    '#revision = 0;',
    [
      ['0', '1'],
      ['0', '(-1)'],
    ],
    untilSettled,
  ),
  ...inLine(`${consensus}/voter-slot.ts`, "#outcome: Outcome = 'ok';", [["'ok'", "''"]], untilSettled),
  ...inLine(`${consensus}/voter-slot.ts`, "#otherOutcome: Outcome = 'ok';", [["'ok'", "''"]], untilSettled),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'const untilUs = freshUntilUs < capUs ? freshUntilUs : capUs;',
    [['<', '<=']],
    'of two equal times either is the lesser',
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    "this.isFailing = this.isHolding && (last?.vote === 'DOWN' || last?.vote === 'TIMEOUT');",
    [['?.', '.']],
    'who holds a vote has a last one',
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'if (edits.length > 0) {',
    [
      ['edits.length > 0', 'true'],
      ['>', '>='],
      ['0', '(-1)'],
    ],
    'without edits what is wanted is what is stored',
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'if (!this.#compactRepeats(horizonUs)) this.log.compact(inputs, horizonUs);',
    [['!this.#compactRepeats(horizonUs)', 'true']],
    longWay,
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'let index = rows.length - 1;',
    [
      ['-', '+'],
      ['1', '0'],
    ],
    longWay,
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'while (index >= 0 && rows.eAt(index) > horizonUs) index -= 1;',
    [
      ['&&', '||'],
      ['>=', '>'],
      ['0', '1'],
      ['0', '(-1)'],
      ['-=', '+='],
    ],
    longWay,
  ),
  ...inLine(
    `${consensus}/voter-slot.ts`,
    'if (this.#repeated === null || rows.eAt(index) <= this.#repeated.state.eUs) return false;',
    [
      ['this.#repeated === null || rows.eAt(index) <= this.#repeated.state.eUs', 'true'],
      ['<=', '<'],
    ],
    longWay,
  ),
  ...inLine(`${consensus}/voter-slot.ts`, 'return true;', [['true', 'false', 2]], longWay),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'const streak = state?.streak ?? null;',
    [['state?.streak ?? null', 'state?.streak']],
    'it is only asked whether it is confirmed',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'this.base = { state: { ...state, vote, streak: before }, sinceUs: this.base?.sinceUs ?? state.eUs };',
    [
      ['this.base?.sinceUs ?? state.eUs', 'this.base?.sinceUs'],
      ['?.', '.'],
    ],
    'a confirmed streak is settled, so there is a base',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'const status = base.vote === null ? null : rangeStatusOf(base.vote);',
    [['base.vote === null', 'false']],
    'no range has the status of no vote',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'const range = stored.find(',
    [['find', 'findLast']],
    'of disjoint ranges at most one holds at a time',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    '({ startedUs, endedUs }) => startedUs <= base.eUs && (endedUs === null || endedUs > base.eUs),',
    [['<=', '<']],
    'a range that begins with the base says no earlier beginning',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'if (chosen === undefined || chosen.state.eUs <= this.baseUs) return;',
    [['<=', '<']],
    'the base itself would be chosen again, and nothing dropped',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'steps.push({ state: this.base.state, vote: this.base.state.vote, sinceUs: this.base.sinceUs, failing: false });',
    [['false', 'true']],
    'a streak that is confirmed after the base began after it',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'const wasConfirmed = state?.streak?.confirmed ?? false;',
    [
      ['state?.streak?.confirmed ?? false', 'state?.streak?.confirmed'],
      ['state?.streak?.confirmed ?? false', 'false'],
      ['false', 'true'],
    ],
    'to vote for a confirmed streak again changes nothing, and one that begins confirmed has only itself',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'for (let index = 1; index < steps.length; index += 1) {',
    [
      ['1', '0', 1],
      ['<', '<='],
    ],
    'beyond its ends there is no step, which is left out',
  ),
  ...inLine(
    `${consensus}/voter-log.ts`,
    'if (before === undefined || step === undefined) continue;',
    [
      ['before === undefined || step === undefined', 'false'],
      ['||', '&&'],
      ['continue;', ''],
    ],
    forTypes,
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    "const severity = ['ok', 'slow', 'warn', 'fail', 'timeout', 'probe_error'];",
    [["'ok'", "''"]],
    'what is not in the list comes before all that is, as the first of it does',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'severity.indexOf(a.outcome) - severity.indexOf(b.outcome) ||',
    [['indexOf', 'lastIndexOf']],
    'each outcome is there once',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'const firstUs = Math.max(t, ordered[0]?.fromUs ?? t);',
    [['ordered[0]?.fromUs ?? t', 'ordered[0]?.fromUs']],
    'without any event none is found, whatever the time',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    "const standard = { probeRevision: 0, confirmations: 2, policy: 'majority' } as const;",
    [['0', '(-1)']],
    'no revision is below 0',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'const startOf = (inputs: MonitorInputs): number => Math.max(inputs.createdUs, inputs.resetUs ?? inputs.createdUs);',
    [['inputs.resetUs ?? inputs.createdUs', 'inputs.resetUs']],
    'null counts as 1970, and nothing was created before that',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    '...intervals.flatMap((interval) => (interval.toUs === null ? [] : [interval.toUs])),',
    [['interval.toUs === null', 'false']],
    'null counts as 1970: before every window, and after no result',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'return Math.min(Number.POSITIVE_INFINITY, ...changesOf(inputs).filter((change) => change > t && holds(change)));',
    [['>', '>=']],
    'asked only of results that count, at whose own instant neither holds',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'barredFrom(inputs, row.voter, row.eUs) > next.eUs',
    [['>', '>=']],
    'at the instant of a result that counts its voter is not barred',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'const streak = streaks.find((candidate) => candidate.includes(row));',
    [['find', 'findLast']],
    'a result is in one streak at most',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    "if (open.length === 0) seats.set(0, 'central');",
    [["'central'", "''"]],
    'of a single region nobody asks which it is',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'const before = held.find(',
    [['find', 'findLast']],
    'of a voter one vote at most ends at an instant',
  ),
  ...inLine(
    `${consensus}/batch.ts`,
    'const vote = own.find((candidate) => contains(candidate, t));',
    [['find', 'findLast']],
    'a voter holds one vote at a time',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    "const noEvidence: RangeEvidence = { rule: 'no_votes', quorum: 0, voters: [], missing: [] };",
    [
      ["'no_votes'", "''"],
      ['0', '1'],
      ['0', '(-1)'],
    ],
    'a timeline reaches from its horizon to its frontier and is never without a segment',
  ),
  ...inLine(`${consensus}/increment.ts`, '#isDirty = true;', [['true', 'false']], 'set before anybody asks'),
  ...inLine(`${consensus}/increment.ts`, '#isChanged = true;', [['true', 'false']], 'set before anybody asks'),
  ...inLine(
    `${consensus}/increment.ts`,
    'const open = this.#stored.find((range) => range.endedUs === null);',
    [['find', 'findLast']],
    'one range at most is open',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (range.voter === null) continue;',
    [
      ['range.voter === null', 'false'],
      ['continue;', ''],
    ],
    forTypes,
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    "const status = this.#segments.at(-1)?.status ?? 'UNKNOWN';",
    [
      ["this.#segments.at(-1)?.status ?? 'UNKNOWN'", 'this.#segments.at(-1)?.status'],
      ['?.', '.'],
      ["'UNKNOWN'", "''"],
    ],
    'a timeline reaches from its horizon to its frontier and is never without a segment',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (row.eUs > this.#newestUs) this.#newestUs = row.eUs;',
    [['>', '>=']],
    again,
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (row.eUs > this.#frontierUs) this.#frontierUs = row.eUs;',
    [['>', '>=']],
    again,
  ),
  ...inLine(`${consensus}/increment.ts`, 'if (nowUs > this.#nowUs) this.#nowUs = nowUs;', [['>', '>=']], again),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (nowUs > this.#frontierUs) this.#frontierUs = nowUs;',
    [['>', '>=']],
    again,
  ),
  ...inLine(`${consensus}/increment.ts`, 'if (us > this.#toldUntilUs) this.#toldUntilUs = us;', [['>', '>=']], again),
  ...inLine(
    `${consensus}/increment.ts`,
    'longestFreshUs = Math.max(longestFreshUs, log.base?.state.freshUs ?? 0);',
    [
      ['0', '1'],
      ['0', '(-1)'],
    ],
    'where there is no base there are rows, each fresh for a second at least',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'return outlookOf(electorate, this.#ordered, this.#segments.at(-1)?.evidence ?? noEvidence);',
    [
      ['this.#segments.at(-1)?.evidence ?? noEvidence', 'this.#segments.at(-1)?.evidence'],
      ['?.', '.'],
    ],
    'a timeline reaches from its horizon to its frontier and is never without a segment',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'const edits = this.#isChanged ? this.#takeEdits() : nothing;',
    [['this.#isChanged', 'true']],
    'without a change there is nothing to write',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'const statusSinceUs = Math.max(this.#segments.at(-1)?.fromUs ?? this.#horizonUs, this.#inputs.floorUs);',
    [
      ['this.#segments.at(-1)?.fromUs ?? this.#horizonUs', 'this.#segments.at(-1)?.fromUs'],
      ['?.', '.'],
    ],
    'a timeline reaches from its horizon to its frontier and is never without a segment',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (horizonUs > this.#horizonUs) {',
    [['>', '>=']],
    'to move the horizon to where it is changes nothing',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'const before = this.#segments.findLast((segment) => segment.fromUs < horizonUs);',
    [['<', '<=']],
    'a segment that begins with the horizon is no longer for having begun there',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (before !== undefined) this.#head = { status: before.status, startUs: before.fromUs };',
    [['before !== undefined', 'true']],
    'a timeline reaches from its horizon to its frontier and is never without a segment',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'if (edits.length > 0) {',
    [
      ['edits.length > 0', 'true'],
      ['>', '>='],
      ['0', '(-1)'],
    ],
    'without edits what is wanted is what is stored',
  ),
  ...inLine(
    `${consensus}/increment.ts`,
    'const range = restore.storedRanges.find(',
    [['find', 'findLast']],
    'of disjoint ranges at most one holds just before a time',
  ),
  ...inLine(
    `${consensus}/row-log.ts`,
    'const width = 5;',
    [['5', '6']],
    'a cell of a row that nothing is written into or read from',
  ),
  ...inLine(
    `${consensus}/row-log.ts`,
    'const firstCapacity = 8;',
    [
      ['8', '9'],
      ['8', '7'],
    ],
    moreRoom,
  ),
  ...inLine(
    `${consensus}/row-log.ts`,
    'const cells = new Float64Array(this.#length * 2 * width);',
    [['2', '3']],
    moreRoom,
  ),
  ...inLine(
    `${consensus}/row-log.ts`,
    'if (index < 0 || index >= this.#length) return Number.NEGATIVE_INFINITY;',
    [['0', '(-1)']],
    'before the first cell there is none, which is minus infinity as well',
  ),
  ...[
    'return this.#cells[index * width + columns.e] ?? Number.NEGATIVE_INFINITY;',
    'cells[first + columns.e] = row.eUs;',
  ].flatMap((text) => inLine(`${consensus}/row-log.ts`, text, [['+', '-']], 'the time is the first cell of a row')),
  ...inLine(
    `${consensus}/row-log.ts`,
    'let count = 0;',
    [['0', '(-1)']],
    'before the first row it is minus infinity, which is let go before any other',
  ),
  {
    file: `${consensus}/row-log.ts`,
    operator: 'fallback',
    because: 'a row is only read where there is one: the fallback is for the type checker',
  },
  ...inLine(
    `${consensus}/row-log.ts`,
    "outcome: outcomeOf[cell(columns.outcome)] ?? 'skipped',",
    [["'skipped'", "''"]],
    forTypes,
  ),

  // ---- ranges
  ...inLine(
    'control-plane/src/monitoring/status-ranges/write-edits.ts',
    "const key = `${edit.monitorId}:${edit.voter ?? ''}`;",
    [
      ["edit.voter ?? ''", 'edit.voter'],
      ["''", "'other'"],
    ],
    'any text that is no number tells the monitor from its voters',
  ),

  // ---- quarantine
  ...inLine(
    judge,
    'const isFailing = others[0]?.isFailing ?? false;',
    [
      ['others[0]?.isFailing ?? false', 'others[0]?.isFailing'],
      ['0', '1'],
      ['false', 'true'],
    ],
    'asked only where there are two others at least and all of them say the same',
  ),
  ...inLine(
    judge,
    'const isFailing = others[0]?.isFailing;',
    [['0', '1']],
    'with fewer than two others nobody asks, and whichever is compared with all others finds who differs',
  ),
  ...inLine(
    judge,
    'if (one.isBefore || one.isRecent) counts.set(one.workspaceId, (counts.get(one.workspaceId) ?? 0) + 1);',
    [
      ['0', '1'],
      ['0', '(-1)'],
      ['1', '2'],
    ],
    'which count is the largest is all that is asked',
  ),

  // ---- ingest
  ...inLine(
    `${ingest}/admit.ts`,
    'const place = placeOf(batch.header, batch.lost === undefined ? batch.results.length : undefined, batch.lost);',
    [['batch.lost === undefined', 'true']],
    'a record of lost results has its last number, and nobody asks how many results came with it',
  ),
  ...inLine(
    `${ingest}/admit.ts`,
    'const lastSeq = lost === undefined ? firstSeq + (count ?? 0) - 1 : Number(lost.toSeq);',
    [
      ['count ?? 0', 'count'],
      ['0', '1'],
      ['0', '(-1)'],
    ],
    forTypes,
  ),
  ...inLine(
    `${ingest}/memory.ts`,
    'if (changes.length === 0) return nearUs;',
    [
      ['changes.length === 0', 'false'],
      ['0', '(-1)'],
    ],
    'the least of no changes is infinity, and the lesser of it and nearUs is nearUs',
  ),
  ...inLine(
    `${ingest}/round.ts`,
    'if (place === undefined || trimmed === undefined) continue;',
    [['||', '&&']],
    'both are undefined together',
  ),
  ...inLine(
    `${ingest}/round.ts`,
    'for (let index = trimmed.skip; index < admitted.rows.length; index += 1) {',
    [['<', '<=']],
    'beyond the last row there is none, as where one was left out',
  ),

  // ---- packed
  ...['chunk', 'sketch', 'summary'].map((name) => ({
    file: `${packed}/${name}.ts`,
    operator: 'fallback',
    because: 'every index is below the length of its column: the fallback is for the type checker',
  })),
  ...['let numbers = new Float64Array(256);', 'let sums = new Float64Array(256);'].flatMap((text) =>
    inLine(
      `${packed}/chunk.ts`,
      text,
      [
        ['256', '257'],
        ['256', '255'],
      ],
      moreRoom,
    ),
  ),
  ...inLine(
    `${packed}/chunk.ts`,
    'if (numbers.length >= count) return;',
    [
      ['numbers.length >= count', 'false'],
      ['>=', '>'],
      ['return;', ''],
    ],
    moreRoom,
  ),
  ...['numbers = new Float64Array(count * 2);', 'sums = new Float64Array(count * 2);'].flatMap((text) =>
    inLine(
      `${packed}/chunk.ts`,
      text,
      [
        ['2', '3'],
        ['2', '1'],
      ],
      moreRoom,
    ),
  ),
  ...inLine(
    `${packed}/chunk.ts`,
    'return all.filter((_, index) => (phases & (1 << index)) !== 0);',
    [
      ['all.filter((_, index) => (phases & (1 << index)) !== 0)', 'all'],
      ['&', '|'],
      ['0', '(-1)'],
    ],
    'a column in which no row has a phase holds no number, and takes no bits',
  ),
  ...inLine(
    `${packed}/chunk.ts`,
    'for (let at = 0; at < length; at += 1) {',
    [
      ['<', '<=', 2],
      ['<', '<=', 3],
      ['<', '<=', 4],
    ],
    beyondLast,
  ),
  ...inLine(
    `${packed}/chunk.ts`,
    'for (let at = 0; at < length; at += 1) {',
    [
      ['0', '(-1)', 3],
      ['0', '(-1)', 4],
    ],
    beforeFirst,
  ),
  ...[
    'for (let at = 0; at < rows.length; at += 1) numbers[at] = (rows.totalUs[at] ?? 0) - (sums[at] ?? 0);',
    'for (let at = 0; at < rows.length; at += 1) rows.totalUs[at] = (numbers[at] ?? 0) + (sums[at] ?? 0);',
    'for (let at = 0; at < length; at += 1) numbers[at] = remainder(receivedUs[at] ?? 0, unitUs);',
    'for (let at = 0; at < length; at += 1) receivedUs[at] = (receivedUs[at] ?? 0) + (numbers[at] ?? 0);',
  ].flatMap((text) => [
    ...inLine(`${packed}/chunk.ts`, text, [['<', '<=']], beyondLast),
    ...inLine(`${packed}/chunk.ts`, text, [['0', '(-1)', 1]], beforeFirst),
  ]),
  ...[
    'for (let at = 1; at < length; at += 1) numbers[at - 1] = (eUs[at] ?? 0) - (eUs[at - 1] ?? 0);',
    'for (let at = 1; at < length; at += 1) eUs[at] = (eUs[at] ?? 0) + (numbers[at - 1] ?? 0);',
  ].flatMap((text) => [
    ...inLine(`${packed}/chunk.ts`, text, [['<', '<=']], beyondLast),
    ...inLine(`${packed}/chunk.ts`, text, [['1', '0', 1]], beforeFirst),
  ]),
  ...inLine(`${packed}/chunk.ts`, 'for (let at = 1; at < length; at += 1) {', [['<', '<=']], beyondLast),
  ...inLine(
    `${packed}/chunk.ts`,
    'for (let at = 1; at < length; at += 1) {',
    [
      ['1', '0', 1],
      ['1', '0', 3],
      ['1', '0', 5],
    ],
    beforeFirst,
  ),
  ...inLine(`${packed}/chunk.ts`, 'if (stepUs > 0) {', [['0', '1']], 'a step is whole seconds'),
  ...inLine(
    `${packed}/chunk.ts`,
    'for (let at = 1; at < length && unitUs !== 1; at += 1) {',
    [['1', '0', 1]],
    'the first receipt is at no distance from itself, and no distance has every unit',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const bucketCount = Math.floor(Math.log(longestUs) * perLog) + 2;',
    [
      ['floor', 'ceil'],
      ['2', '3'],
    ],
    'one more bucket is never used',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'bucket === 0 ? 0 : (2 * lowerBound(bucket) * growth) / (1 + growth),',
    [
      ['bucket === 0', 'false'],
      ['0', '(-1)'],
    ],
    'the middle of what begins with 0 is 0, and never less than the least, which is 0',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const roomStep = 64;',
    [
      ['64', '65'],
      ['64', '63'],
    ],
    moreRoom,
  ),
  ...['#maxUs = 0;', 'this.#maxUs = 0;'].flatMap((text) =>
    inLine(`${packed}/sketch.ts`, text, [['0', '(-1)']], 'the first latency is more than that, or is 0 and becomes it'),
  ),
  ...inLine(`${packed}/sketch.ts`, '#counts = new Float64Array(0);', [['0', '1']], moreRoom),
  ...inLine(
    `${packed}/sketch.ts`,
    '#first = 0;',
    [
      ['0', '1'],
      ['0', '(-1)'],
    ],
    'while there is no room nobody asks where it begins',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const latencyUs = us < 0 ? 0 : us > longestUs ? longestUs : us;',
    [
      ['<', '<='],
      ['0', '1', 1],
      ['>', '>='],
    ],
    'at the bound itself both are the same, and latencies are whole',
  ),
  ...['if (latencyUs < this.#minUs) this.#minUs = latencyUs;', 'if (minUs < this.#minUs) this.#minUs = minUs;'].flatMap(
    (text) => inLine(`${packed}/sketch.ts`, text, [['<', '<=']], again),
  ),
  ...['if (latencyUs > this.#maxUs) this.#maxUs = latencyUs;', 'if (maxUs > this.#maxUs) this.#maxUs = maxUs;'].flatMap(
    (text) => inLine(`${packed}/sketch.ts`, text, [['>', '>=']], again),
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'if (this.count === 0) return found;',
    [
      ['this.count === 0', 'false'],
      ['0', '(-1)'],
    ],
    'of nothing the first bucket is infinity, beyond the last one',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'if (used > bucketCount) throw new BitsError(`${used} buckets`);',
    [['>', '>=']],
    'the first buckets are narrower than a microsecond, so never are all of them used',
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'this.#makeRoom(bucket + 1, last);',
    [
      ['+', '-'],
      ['1', '0'],
    ],
    moreRoom,
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'if (from >= this.#first && to < end) return;',
    [
      ['from >= this.#first && to < end', 'false'],
      ['>=', '>'],
      ['return;', ''],
    ],
    moreRoom,
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const isNew = this.#counts.length === 0;',
    [
      ['0', '1'],
      ['0', '(-1)'],
    ],
    moreRoom,
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const first = Math.floor((isNew ? from : Math.min(from, this.#first)) / roomStep) * roomStep;',
    [['isNew', 'false']],
    moreRoom,
  ),
  ...inLine(
    `${packed}/sketch.ts`,
    'const next = Math.ceil(Math.max(isNew ? 0 : end, to + 1) / roomStep) * roomStep;',
    [
      ['isNew', 'false'],
      ['0', '1'],
      ['0', '(-1)'],
      ['1', '2'],
    ],
    moreRoom,
  ),
  ...inLine(`${packed}/sketch.ts`, 'const larger = new Float64Array(next - first);', [['-', '+']], moreRoom),
  ...inLine(
    `${packed}/summary.ts`,
    'if (error instanceof BitsError) {',
    [['error instanceof BitsError', 'true']],
    'reading throws no other error; another one would be a defect, and told as it is',
  ),
  ...inLine(
    `${packed}/summary.ts`,
    'throw error;',
    [['throw error;', '']],
    'reading throws no other error; another one would be a defect, and told as it is',
  ),

  // ---- sla
  ...inLine(
    `${sla}/correction.ts`,
    'if (toMs === undefined) break;',
    [
      ['toMs === undefined', 'false'],
      ['break;', ''],
    ],
    'nothing ends after the last edge, so no correction holds there',
  ),
  ...inLine(
    `${sla}/correction.ts`,
    'for (let index = firstEndingAfter(stretches, fromMs); fromMs < span.toMs; index += 1) {',
    [['<', '<=']],
    'a stretch that begins with the end of the span ends the loop as well',
  ),
  ...inLine(
    `${sla}/correction.ts`,
    'if (parts.length === 0) return [span];',
    [
      ['parts.length === 0', 'false'],
      ['0', '(-1)'],
    ],
    'what is left of it is the whole span; this only saves a copy',
  ),
  ...inLine(
    `${sla}/correction.ts`,
    'if ((stretches[middle]?.toMs ?? Number.POSITIVE_INFINITY) <= ms) low = middle + 1;',
    [
      ['stretches[middle]?.toMs ?? Number.POSITIVE_INFINITY', 'stretches[middle]?.toMs'],
      ['?.', '.'],
    ],
    forTypes,
  ),
  ...inLine(
    `${sla}/seal.ts`,
    "const firstLine = bytes.toString('latin1', 0, mostBytes).split('\\r\\n', 1)[0] ?? '';",
    [
      [
        "bytes.toString('latin1', 0, mostBytes).split('\\r\\n', 1)[0] ?? ''",
        "bytes.toString('latin1', 0, mostBytes).split('\\r\\n', 1)[0]",
      ],
      ["''", "'other'"],
    ],
    'split always gives an element',
  ),
  ...inLine(
    `${sla}/seal.ts`,
    "const firstLine = bytes.toString('latin1', 0, mostBytes).split('\\r\\n', 1)[0] ?? '';",
    [
      ['0', '(-1)'],
      ['1', '2'],
    ],
    'a text from before the beginning on begins there, and of the elements the first is taken',
  ),
  ...inLine(
    `${sla}/seal.ts`,
    'if (lineAt === -1) return undefined;',
    [
      ['lineAt === -1', 'false'],
      ['1', '2'],
    ],
    'where there is no seal the pattern finds none either',
  ),
  ...["text = '',", "key = '',", "digest = '',", "signature = '',"].flatMap((text) =>
    inLine(`${sla}/seal.ts`, text, [["''", "'other'"]], 'a match has all groups of the pattern'),
  ),
  ...inLine(
    `${sla}/seal.ts`,
    'contentEnd >= 0 &&',
    [['0', '(-1)']],
    'with one character less before the seal, what should stand before it is not there',
  ),
  ...inLine(
    `${sla}/ledger/canonical.ts`,
    'const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));',
    [
      ['<', '<='],
      ['1', '2'],
      ['1', '0', 2],
    ],
    'no two keys are equal, and the sort asks only whether a number is below zero',
  ),
  ...inLine(
    `${sla}/ledger/chain.ts`,
    "const digest = createHash('sha256').update(head.digest).update(entry, 'utf8').digest();",
    [["'utf8'", "''"]],
    'UTF-8 is what is taken where none is named',
  ),
  ...inLine(
    `${statistics}/availability-fold.ts`,
    'if (day !== undefined) day.outages += 1;',
    [['day !== undefined', 'true']],
    forTypes,
  ),
  ...inLine(
    `${statistics}/availability-fold.ts`,
    'if (endMs > 0) addTime(end.sum, span.countsAs, endMs);',
    [
      ['>', '>='],
      ['0', '(-1)'],
    ],
    'adding no time changes nothing, and times are whole',
  ),
  ...inLine(
    `${statistics}/outages.ts`,
    'const starts = { firstUptimeMs: 0, lastUptimeMs: 0 };',
    [
      ['0', '1'],
      ['0', '(-1)'],
    ],
    'both are set by the first outage before anybody asks',
  ),
  ...inLine(
    `${statistics}/outages.ts`,
    'if (outages.length >= 2 * window.listed) omitted += outages.splice(0, outages.length - window.listed).length;',
    [
      ['outages.length >= 2 * window.listed', 'true'],
      ['outages.length >= 2 * window.listed', 'false'],
      ['>=', '>'],
      ['>=', '<'],
      ['*', '/'],
      ['2', '3'],
      ['2', '1'],
      ['omitted += outages.splice(0, outages.length - window.listed).length;', ''],
    ],
    'how often the list is cut changes how much is held, and no answer',
  ),
  ...inLine(
    `${statistics}/spans.ts`,
    'range: span.range === null ? null : (inputs.ranges[span.range] ?? null),',
    [
      ['span.range === null', 'false'],
      ['inputs.ranges[span.range] ?? null', 'inputs.ranges[span.range]'],
    ],
    'there is no range with the index null, and one with every other',
  ),
];

export const isListed = (mutant: Mutant): boolean => equivalents.some((listed) => isThis(listed, mutant));

export const isThis = (listed: Equivalent, mutant: Mutant): boolean =>
  (['file', 'operator', 'text', 'before', 'after', 'nth'] as const).every(
    (field) => listed[field] === undefined || listed[field] === mutant[field],
  );
