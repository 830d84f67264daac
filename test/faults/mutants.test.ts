import { execFile } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { caught } from '../harness/caught.ts';
import { root } from '../harness/processes.ts';
import { copyTree } from '../harness/tree-copy.ts';
import type { TreeCopy } from '../harness/tree-copy.ts';

/**
 * Three mechanisms that the promise "none lost, none doubled" rests on, each taken out of a copy of the project. The tests that
 * are named must notice, and say so: an oracle that passes without them proves nothing.
 */
const mutants = [
  {
    name: 'the cursor check',
    file: 'control-plane/src/monitoring/check-results/ingest/trim.ts',
    from: 'const done = cursors.get(cursorKey(place)) ?? 0;',
    to: 'const done = place.firstSeq - 1 + 0 * cursors.size;',
    noticedBy: ['test/faults/kill.test.ts'],
    says: /doubled|were logged and \d+ are stored/,
  },
  {
    name: 'the fence',
    file: 'control-plane/src/monitoring/check-results/ingest/write.ts',
    from: 'where shard = $1 and owner = $2 and term = $3 returning',
    to: 'where shard = $1 and $2::text is not null and $3::bigint is not null returning',
    noticedBy: ['control-plane/src/monitoring/check-results/ingest/ingest.test.ts'],
    says: /an owner whose term is over writes nothing/,
  },
  {
    name: 'the renewal of the consumer',
    file: 'control-plane/src/monitoring/check-results/ingest/fetch.ts',
    from: 'await manager.consumers.delete(resultsStream, consumer).catch(() => undefined);',
    to: '',
    noticedBy: ['control-plane/src/monitoring/check-results/ingest/ingest.test.ts'],
    says: /a commit whose answer never came is neither lost nor doubled/,
  },
];

/** Runs a test file in a copy of the project; what went wrong, or undefined when it passes. */
async function complaints(tree: TreeCopy, file: string): Promise<string | undefined> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/',
    TMPDIR: process.env['TMPDIR'] ?? '/tmp',
    NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/parallax-compile'),
    // As the runner starts a file: with a prepared database, and with programs that are bundled, here from the copy, for who starts any.
    TAP: '1',
    ...(file.startsWith('test/') ? { PARALLAX_TEST_PROGRAMS: JSON.stringify(await tree.programs()) } : {}),
    // The one of `kill.test.ts` after which the broker delivers again what is stored, for certain.
    PARALLAX_FAULTS: 'put the broker store back',
    TAP_TIMEOUT: '270',
  };
  const options = { cwd: tree.folder, timeout: 280_000, maxBuffer: 100_000_000, env };
  return new Promise((resolve) => {
    execFile('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, file], options, (error, stdout, stderr) => {
      if (error === null) return resolve(undefined);
      const failed = stdout.split('\n').filter((line) => /not ok|Error|message:|diff:|^\s+[-+]/.test(line));
      resolve(`${error.message}\n${failed.slice(0, 60).join('\n')}\n${stderr.slice(-2_000)}`);
    });
  });
}

/** What the named tests say of a copy that was changed, up to the first that fails; undefined when all pass. */
async function complaintsOf(files: readonly string[], change: (tree: TreeCopy) => void): Promise<string | undefined> {
  const tree = copyTree();
  try {
    change(tree);
    for (const file of files) {
      const found = await complaints(tree, file);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    tree.remove();
  }
}

const ingest = 'control-plane/src/monitoring/check-results/ingest/ingest.test.ts';

// Two at a time: most of each is waiting.
t.jobs = 2;

void t.test(
  'a copy without a mutant passes, so that a failure below is the mutant',
  { timeout: 600_000, buffered: true },
  async (t) => {
    t.equal(await complaintsOf([ingest], () => undefined), undefined);
  },
);

for (const { name, file, from, to, noticedBy, says } of mutants) {
  void t.test(`without ${name} the tests fail`, { timeout: 600_000, buffered: true }, async (t) => {
    const found = await complaintsOf(noticedBy, (tree) => tree.replace(file, from, to));
    caught(t, t.match(found, says, `noticed by one of ${noticedBy.join(', ')}`), `product without ${name}`);
  });
}
