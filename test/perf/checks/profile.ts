import { readFileSync } from 'node:fs';

/** What a `.cpuprofile` of V8 says, as far as it is looked at. Times are µs. */
type Profile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

/** Where the start of the program went: of no interest beside what it did then. */
const starting = /internal\/(?:modules|bootstrap|deps)|^wasm|amaro|compileSourceTextModule|compileFunctionForCJS/;

/** The functions that took most of the processor time by themselves, with their share of it in percent; waiting and starting left out. */
export function topOf(file: string, most: number): readonly string[] {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  for (const [at, sample] of samples.entries()) {
    const name = names.get(sample) ?? '';
    if (name === '(idle)' || starting.test(name)) continue;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  }
  const all = [...times.values()].reduce((sum, each) => sum + each, 0);
  return [...times]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([name, us]) => `${((100 * us) / all).toFixed(1).padStart(5)} %  ${name}`);
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  const file = url.replace(/^.*\/packages\//, 'packages/').replace(/^file:\/\//, '');
  return file === '' ? name : `${name} ${file}:${lineNumber + 1}`;
}
