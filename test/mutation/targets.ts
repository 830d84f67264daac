/** Modules that decide, with the tests that must notice when they decide otherwise. Paths from the root. */
export type Group = {
  readonly name: string;
  readonly modules: readonly Module[];
  readonly tests: readonly string[];
  /** Its tests have properties that are tried as often as they are told to. */
  readonly isTriedMore?: boolean;
};

export type Module = {
  readonly file: string;
  /** Only these of its functions decide; the others do I/O and are tested with a database. Absent: all. */
  readonly functions?: readonly string[];
};

const monitoring = 'control-plane/src/monitoring';
const results = `${monitoring}/check-results`;
const reporting = 'control-plane/src/reporting';

const within = (folder: string, ...names: readonly string[]): string[] => names.map((name) => `${folder}/${name}.ts`);
const modules = (folder: string, ...names: readonly string[]): Module[] =>
  within(folder, ...names).map((file) => ({ file }));
const tests = (folder: string, ...names: readonly string[]): string[] =>
  within(folder, ...names.map((name) => `${name}.test`));

export const groups: readonly Group[] = [
  {
    name: 'consensus',
    isTriedMore: true,
    modules: modules(
      `${monitoring}/consensus`,
      'batch',
      'decide',
      'increment',
      'prepared-inputs',
      'range-diff',
      'recheck-planner',
      'rechecks',
      'row-log',
      'standing',
      'sweep',
      'uptime',
      'voter-log',
      'voter-slot',
      'voter-state',
    ),
    tests: tests(
      `${monitoring}/consensus`,
      'batch',
      'consensus',
      'counted-time',
      'decide',
      'increment',
      'increment-edges',
      'invariants',
      'playback',
      'prepared-inputs',
      'range-diff',
      'recheck-times',
      'rechecks',
      'rechecks-choice',
      'restore',
      'row-log',
      'standing',
      'sweep',
      'uptime',
      'voter-log',
      'voter-slot',
      'voter-state',
    ),
  },
  {
    name: 'ranges',
    modules: [{ file: `${monitoring}/status-ranges/write-edits.ts`, functions: ['layersOf'] }],
    tests: tests(`${monitoring}/status-ranges`, 'layers'),
  },
  {
    name: 'ingest',
    modules: modules(`${results}/ingest`, 'admit', 'memory', 'round', 'trim'),
    tests: tests(`${results}/ingest`, 'admit', 'memory', 'refusals', 'round', 'takeover', 'trim'),
  },
  {
    name: 'packed',
    modules: modules(`${results}/packed`, 'chunk', 'sketch', 'summary'),
    tests: tests(`${results}/packed`, 'chunk', 'chunk-form', 'sketch', 'sketch-form', 'summary', 'summary-form'),
  },
  {
    name: 'quarantine',
    isTriedMore: true,
    modules: modules(`${monitoring}/probes/quarantine`, 'judge'),
    tests: tests(`${monitoring}/probes/quarantine`, 'judge', 'judge-edges'),
  },
  {
    name: 'sla',
    modules: [
      ...modules(`${reporting}/sla`, 'budget', 'correction', 'seal', 'steps', 'target'),
      ...modules(`${reporting}/sla/corrections`, 'rules'),
      ...modules(`${reporting}/sla/ledger`, 'canonical', 'chain', 'entry'),
      ...modules(`${reporting}/sla/ledger/closing`, 'plan'),
      ...modules(`${reporting}/statistics`, 'availability', 'availability-fold', 'outages', 'spans', 'window'),
    ],
    tests: [
      ...tests(`${reporting}/sla`, 'budget', 'correction', 'figures', 'seal', 'seal-form', 'steps'),
      ...tests(`${reporting}/sla/corrections`, 'rules'),
      ...tests(`${reporting}/sla/ledger`, 'chain', 'chain-text', 'entry'),
      ...tests(`${reporting}/statistics`, 'availability', 'figures', 'outages', 'spans'),
    ],
  },
];

/** What mutation leaves out of a group: where `only` is a part of a path, the modules whose path holds it. */
export function chosen(only: string | undefined): Group[] {
  return groups
    .map((group) => ({
      ...group,
      modules: group.modules.filter(({ file }) => only === undefined || file.includes(only)),
    }))
    .filter((group) => group.modules.length > 0);
}
