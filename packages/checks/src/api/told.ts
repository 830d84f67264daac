/*
 * What a traced run tells beside the lines of its steps, in the words of its trace: which assertions of a step hold, and what was taken out of
 * its answer. The trace of a step ends with the step `step`; steps are made in their order.
 */

/** One entry for a step with assertions: a word for each of them. */
export const verdictsTrace = 'assert';
/** One entry for each value that was taken, which says its name. */
export const extractedTrace = 'extract';
/** The end of a step, with its line. */
export const stepTrace = 'step';

/** What a traced step told. */
export type Told = {
  /** For each assertion, in their order, whether it holds; absent where they were not asked. */
  readonly holds?: readonly boolean[] | undefined;
  /** Names of what was taken out of the answer. */
  readonly extracted: readonly string[];
};

export function writeVerdicts(verdicts: readonly boolean[]): string {
  return verdicts.map((holds) => (holds ? 'holds' : 'fails')).join(', ');
}

/** What the steps that were made told, in their order. Whatever else a trace says is passed over. */
export function readTold(trace: Iterable<{ readonly step: string; readonly detail: string }>): readonly Told[] {
  const told: Told[] = [];
  let holds: readonly boolean[] | undefined;
  let extracted: string[] = [];
  for (const { step, detail } of trace) {
    if (step === verdictsTrace) holds = detail.split(', ').map((word) => word === 'holds');
    else if (step === extractedTrace) extracted.push(detail);
    else if (step === stepTrace) {
      told.push({ holds, extracted });
      holds = undefined;
      extracted = [];
    }
  }
  return told;
}
