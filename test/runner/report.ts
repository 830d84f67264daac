import type { FileResult } from './file-result.ts';

/** How many of the slowest files the end of a run names. */
const namedSlow = 10;

/** The line of a file as it ends, with what is to be seen of its failure. */
export function linesOf(result: FileResult): string[] {
  const { file, stage, isGood, seconds, cpuSeconds, complaints } = result;
  const times = `${figure(seconds)} s${cpuSeconds === undefined ? '' : ` ${figure(cpuSeconds)} cpu`}`;
  return [
    `${isGood ? 'ok  ' : 'FAIL'} ${times}  ${stage.padEnd(10)}  ${file}`,
    ...complaints.map((line) => `     ${line}`),
  ];
}

/** What stages cost, the slowest files and what failed, for the end of a run. */
export function summaryOf(results: readonly FileResult[], wallSeconds: number, machineCpuSeconds: number): string[] {
  const stages = [...new Set(results.map(({ stage }) => stage))].map((stage) => {
    const own = results.filter((result) => result.stage === stage);
    const [passed, failed, skipped] = totalsOf(own);
    const seconds = sumOf(own.map((result) => result.seconds));
    const cpu = sumOf(own.map((result) => result.cpuSeconds ?? 0));
    return `   ${stage.padEnd(10)} ${String(own.length).padStart(4)} files ${figure(cpu)} s of a processor ${figure(seconds)} s of files  ${passed} passed, ${failed} failed, ${skipped} skipped`;
  });
  const slow = results
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, namedSlow)
    .map((result) => `   ${figure(result.seconds)} s ${figure(result.cpuSeconds ?? 0)} cpu  ${result.file}`);
  const bad = results.filter(({ isGood }) => !isGood).map(({ file, stage }) => `   ${stage}: ${file}`);
  return [
    '== what the stages cost',
    ...stages,
    `   all of it: ${wallSeconds.toFixed(0)} s, in which this machine computed for ${machineCpuSeconds.toFixed(0)} s`,
    `== the ${slow.length} slowest files`,
    ...slow,
    ...(bad.length === 0 ? [] : [`== failed: ${bad.length} of ${results.length} files`, ...bad]),
  ];
}

/** Passed, failed and skipped assertions. */
export function totalsOf(results: readonly FileResult[]): readonly [passed: number, failed: number, skipped: number] {
  return [
    sumOf(results.map(({ passed }) => passed)),
    sumOf(results.map(({ failed }) => failed)),
    sumOf(results.map(({ skipped }) => skipped)),
  ];
}

/** One line about the programs that tests did not find on this machine. */
export function missingProgramsLine(programs: readonly string[]): string {
  const count = `programs missing: ${programs.length}`;
  return programs.length === 0 ? count : `${count}; what needs these was not tried: ${programs.toSorted().join(', ')}`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function figure(seconds: number): string {
  return seconds.toFixed(1).padStart(6);
}
