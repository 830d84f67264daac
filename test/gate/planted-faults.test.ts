import { spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { copyTree } from '../harness/tree-copy.ts';
import type { TreeCopy } from '../harness/tree-copy.ts';

/** For each step of the gate a fault that it must find. */
const faults: Record<string, (tree: TreeCopy) => void> = {
  format: (tree) => tree.append('packages/wire/src/codec.ts', 'export   const  x=1\n'),
  lint: (tree) =>
    tree.append(
      'packages/wire/src/codec.ts',
      '\nasync function later(): Promise<void> {}\nexport function start(): void {\n  later();\n}\n',
    ),
  types: (tree) => tree.append('packages/wire/src/codec.ts', "\nexport const count: number = 'seven';\n"),
  areas: (tree) =>
    tree.append(
      'control-plane/src/platform/crypto/seal.ts',
      "\nexport { monitorsCapability } from '../../monitoring/monitors/index.ts';\n",
    ),
  dead: (tree) => tree.append('control-plane/src/platform/crypto/seal.ts', '\nexport const nobodyUsesThis = 1;\n'),
  generated: (tree) =>
    tree.append('proto/parallax/probe/v1/results.proto', '\nmessage Forgotten {\n  int32 number = 1;\n}\n'),
  schema: (tree) =>
    tree.append(
      'control-plane/src/platform/database/migrations/0002_installation.sql',
      '\ncreate table forgotten (id integer);\n',
    ),
  openapi: (tree) => tree.append('openapi.json', ' '),
  settings: (tree) => tree.append('docs/settings.md', '| `PARALLAX_INVENTED` | none | nothing |\n'),
  docs: (tree) => tree.append('ARCHITECTURE.md', '\nSee `control-plane/src/nowhere.ts`.\n'),
};

t.test('every step of the gate passes on the tree as it is and fails on its planted fault', async (t) => {
  for (const [step, plant] of Object.entries(faults)) {
    const tree = copyTree();
    try {
      const verify = () =>
        spawnSync('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, 'scripts/verify.mjs', step], {
          cwd: tree.folder,
          encoding: 'utf8',
          timeout: 120_000,
          env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' },
        });
      const before = verify();
      t.equal(before.status, 0, `${step} passes: ${before.stdout.slice(-600)}`);
      plant(tree);
      const after = verify();
      t.equal(after.status, 1, `${step} finds its fault`);
    } finally {
      tree.remove();
    }
  }
});

t.test('a step that does not exist is named', async (t) => {
  const result = spawnSync(process.execPath, [path.resolve('scripts/verify.mjs'), 'nonsense'], { encoding: 'utf8' });
  t.equal(result.status, 2);
  t.match(result.stderr, /no such step: nonsense/);
});
