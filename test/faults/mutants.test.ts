import { spawnSync } from 'node:child_process';
import t from 'tap';
import { caught } from '../harness/caught.ts';
import { copyTree } from '../harness/tree-copy.ts';
import type { TreeCopy } from '../harness/tree-copy.ts';

/**
 * Three mechanisms that the promise "none lost, none doubled" rests on, each taken out of a copy of the project. The tests that
 * are named must notice: an oracle that passes without them proves nothing.
 */
const mutants = [
  {
    name: 'the cursor check',
    file: 'control-plane/src/monitoring/check-results/ingest/trim.ts',
    from: 'const done = cursors.get(cursorKey(place)) ?? 0;',
    to: 'const done = place.firstSeq - 1 + 0 * cursors.size;',
    noticedBy: ['test/faults/kill.test.ts'],
  },
  {
    name: 'the fence',
    file: 'control-plane/src/monitoring/check-results/ingest/write.ts',
    from: 'where shard = $1 and owner = $2 and term = $3 returning',
    to: 'where shard = $1 and $2::text is not null and $3::bigint is not null returning',
    noticedBy: ['control-plane/src/monitoring/check-results/ingest/ingest.test.ts'],
  },
  {
    name: 'the renewal of the consumer',
    file: 'control-plane/src/monitoring/check-results/ingest/fetch.ts',
    from: 'await manager.consumers.delete(resultsStream, consumer).catch(() => undefined);',
    to: '',
    noticedBy: ['control-plane/src/monitoring/check-results/ingest/ingest.test.ts', 'test/faults/kill.test.ts'],
  },
];

/** Runs a test file in a copy of the project; what went wrong, or undefined when it passes. */
function complaints(tree: TreeCopy, file: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, file], {
    cwd: tree.folder,
    encoding: 'utf8',
    timeout: 280_000,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      TAP_TIMEOUT: '270',
      PARALLAX_FAULT_SECONDS: '30',
    },
  });
  if (status === 0) return undefined;
  const failed = stdout.split('\n').filter((line) => /not ok|Error|message:|diff:|^\s+[-+]/.test(line));
  return `${error?.message ?? `exit code ${status}`}\n${failed.slice(0, 60).join('\n')}\n${stderr.slice(-2_000)}`;
}

t.test('a copy without a mutant passes, so that a failure below is the mutant', { timeout: 600_000 }, async (t) => {
  const tree = copyTree();
  t.teardown(() => tree.remove());
  t.equal(complaints(tree, 'control-plane/src/monitoring/check-results/ingest/ingest.test.ts'), undefined);
});

for (const mutant of mutants) {
  t.test(`without ${mutant.name} the tests fail`, { timeout: 600_000 }, async (t) => {
    const tree = copyTree();
    t.teardown(() => tree.remove());
    tree.replace(mutant.file, mutant.from, mutant.to);
    const isNoticed = t.notOk(
      mutant.noticedBy.every((file) => complaints(tree, file) === undefined),
      `noticed by one of ${mutant.noticedBy.join(', ')}`,
    );
    caught(t, isNoticed, `product without ${mutant.name}`);
  });
}
