import { spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { caught } from '../harness/caught.ts';
import { copyTree } from '../harness/tree-copy.ts';
import type { TreeCopy } from '../harness/tree-copy.ts';

/** A fault that a step of the gate must find, and what the step then says: not only that it fails, but that it fails for this. */
type Fault = { readonly step: string; readonly plant: (tree: TreeCopy) => void; readonly says: RegExp };

/** All are planted in one copy, so none may hide another one: each has files of its own, or parts of files. */
const faults: readonly Fault[] = [
  {
    step: 'format',
    plant: (tree) => tree.append('packages/telemetry/src/index.ts', 'export   const  spacedOut=1\n'),
    says: /packages\/telemetry\/src\/index\.ts/,
  },
  {
    step: 'lint',
    plant: (tree) =>
      tree.append(
        'packages/wire/src/codec.ts',
        '\nasync function later(): Promise<void> {}\nexport function start(): void {\n  later();\n}\n',
      ),
    says: /packages\/wire\/src\/codec\.ts.*no-floating-promises/,
  },
  {
    step: 'lint',
    plant: (tree) => tree.append('packages/checks/src/data/scram.ts', '\nexport const loose = 1 as any;\n'),
    says: /packages\/checks\/src\/data\/scram\.ts.*no-explicit-any/,
  },
  {
    step: 'types',
    plant: (tree) => tree.append('packages/wire/src/codec.ts', "\nexport const count: number = 'seven';\n"),
    says: /packages\/wire\/src\/codec\.ts.*TS2322/,
  },
  {
    step: 'types',
    plant: (tree) =>
      tree.append(
        'packages/wire/src/generated/parallax/probe/v1/enrolment.ts',
        "\nexport const spelled: number = 'eight';\n",
      ),
    says: /packages\/wire\/src\/generated\/parallax\/probe\/v1\/enrolment\.ts.*TS2322/,
  },
  {
    step: 'types',
    plant: (tree) => tree.append('test/harness/processes.ts', '\n// @ts-expect-error nothing is wrong below\nroot;\n'),
    says: /test\/harness\/processes\.ts.*TS2578/,
  },
  {
    step: 'types',
    plant: (tree) => tree.append('scripts/checks-docs/source.ts', '\nexport const one: string = [""][0];\n'),
    says: /scripts\/checks-docs\/source\.ts.*TS2322/,
  },
  {
    step: 'areas',
    plant: (tree) =>
      tree.append(
        'control-plane/src/platform/crypto/seal.ts',
        "\nexport const reach = () => import('../../monitoring/consensus/decide.ts');\n",
      ),
    says: /area-order-platform: control-plane\/src\/platform\/crypto\/seal\.ts -> control-plane\/src\/monitoring\/consensus\/decide\.ts/,
  },
  {
    step: 'areas',
    plant: (tree) =>
      tree.append(
        'control-plane/src/monitoring/consensus/decide.ts',
        "\nexport const database = () => import('slonik');\n",
      ),
    says: /pure-does-no-io: control-plane\/src\/monitoring\/consensus\/decide\.ts -> .*node_modules\/slonik/,
  },
  {
    step: 'areas',
    plant: (tree) => tree.replace('.dependency-cruiser.cjs', 'src/generated/', 'src/(generated/|codec)'),
    says: /not read: packages\/wire\/src\/codec\.ts/,
  },
  {
    step: 'dead',
    plant: (tree) => tree.append('control-plane/src/platform/crypto/seal.ts', '\nexport const nobodyUsesThis = 1;\n'),
    says: /nobodyUsesThis/,
  },
  {
    step: 'generated',
    plant: (tree) =>
      tree.append('proto/parallax/probe/v1/results.proto', '\nmessage Forgotten {\n  int32 number = 1;\n}\n'),
    says: /generated code differs from proto\/: .*results\.ts/,
  },
  {
    step: 'schema',
    plant: (tree) =>
      tree.append(
        'control-plane/src/platform/database/migrations/0002_installation.sql',
        '\ncreate table forgotten (id integer);\n',
      ),
    says: /schema\.sql differs from the migrations/,
  },
  differing('openapi', 'openapi.json'),
  differing('settings', 'docs/settings.md'),
  differing('checks', 'docs/checks.md'),
  differing('channels', 'docs/channels.md'),
  differing('messages', 'docs/messages.md'),
  {
    step: 'docs',
    plant: (tree) => tree.append('ARCHITECTURE.md', '\nSee `control-plane/src/nowhere.ts`.\n'),
    says: /ARCHITECTURE\.md: control-plane\/src\/nowhere\.ts/,
  },
];
const steps = [...new Set(faults.map(({ step }) => step))];

/** Tests and what only they use: steps read each file of the project, these are four lines in ten of it, and no fault is planted in one. */
const isOfTests = /\.test\.ts$|^test\/(contract|e2e|faults|long|mutation|perf|runner|simulation)\//;

function differing(step: string, file: string): Fault {
  return {
    step,
    plant: (tree) => tree.append(file, ' '),
    says: new RegExp(`${file.replaceAll('.', '\\.')} differs from`),
  };
}

/** Runs the gate in a copy, without what the runner of the tests tells Node. */
function verify(tree: TreeCopy, ...only: string[]) {
  const { status, stdout, stderr } = spawnSync(
    '/usr/bin/env',
    ['-u', 'NODE_OPTIONS', process.execPath, 'scripts/verify.mjs', ...only],
    {
      cwd: tree.folder,
      encoding: 'utf8',
      timeout: 600_000,
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' },
    },
  );
  return { status, stdout, stderr, failed: /verify failed: (.*)/.exec(stderr)?.[1]?.split(', ').toSorted() ?? [] };
}

/** What a step that failed said: the indented lines below its name. */
function saidBy(step: string, stdout: string): string {
  return new RegExp(`^FAIL ${step}\\n((?: {5}.*\\n)*)`, 'm').exec(stdout)?.[1] ?? '';
}

// That each step passes on the tree as it is, the gate says itself; here it would cost as much again.
t.test('every step of the gate finds the faults that are planted for it', async (t) => {
  const tree = copyTree((file) => !isOfTests.test(file));
  t.teardown(() => tree.remove());
  for (const { plant } of faults) plant(tree);
  const after = verify(tree);
  t.equal(after.status, 1);
  t.same(after.failed, steps.toSorted(), 'every step is named as failed');
  for (const { step, says } of faults) {
    const isFound = t.match(saidBy(step, after.stdout), says, `${step} finds its fault`);
    caught(t, isFound, `verify ${step}: ${says.source}`);
  }
  t.notMatch(saidBy('lint', after.stdout), /TS\d+\)/, 'errors of types are told by their step only');
  t.notMatch(saidBy('types', after.stdout), /no-floating-promises/, 'and those of the linter by theirs');

  const alone = verify(tree, 'docs', 'settings', 'generated');
  t.equal(alone.status, 1);
  t.same(alone.failed, ['docs', 'generated', 'settings'], 'only the steps that are named are run');
  t.notMatch(alone.stdout, /^(ok|FAIL) +(lint|types|openapi)/m);
});

t.test('a step that does not exist is named', async (t) => {
  const result = spawnSync(process.execPath, [path.resolve('scripts/verify.mjs'), 'nonsense'], { encoding: 'utf8' });
  t.equal(result.status, 2);
  t.match(result.stderr, /no such step: nonsense/);
});
