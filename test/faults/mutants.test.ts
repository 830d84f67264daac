import { execFile } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { caught } from '../harness/caught.ts';
import { root } from '../harness/processes.ts';
import { copyTree } from '../harness/tree-copy.ts';
import type { TreeCopy } from '../harness/tree-copy.ts';

const ingest = 'control-plane/src/monitoring/check-results/ingest/ingest.test.ts';
const kill = 'test/faults/kill.test.ts';

/**
 * Three mechanisms that the promise "none lost, none doubled" rests on, each taken out of a copy of the project. The test that
 * is named must notice, and say so: an oracle that passes without them proves nothing.
 */
const mutants = [
  {
    name: 'the cursor check',
    file: 'control-plane/src/monitoring/check-results/ingest/trim.ts',
    from: 'const done = cursors.get(cursorKey(place)) ?? 0;',
    to: 'const done = place.firstSeq - 1 + 0 * cursors.size;',
    noticedBy: kill,
    test: 'killed again and again, nothing is lost and nothing doubled, and the timeline is the true one',
    says: /doubled|were logged and \d+ are stored/,
  },
  {
    name: 'the fence',
    file: 'control-plane/src/monitoring/check-results/ingest/write.ts',
    from: 'where shard = $1 and owner = $2 and term = $3 returning',
    to: 'where shard = $1 and $2::text is not null and $3::bigint is not null returning',
    noticedBy: ingest,
    test: 'an owner whose term is over writes nothing',
    says: /an owner whose term is over writes nothing/,
  },
  {
    name: 'the renewal of the consumer',
    file: 'control-plane/src/monitoring/check-results/ingest/fetch.ts',
    from: 'await consumers.delete(resultsStream, this.#consumer).catch(() => undefined);',
    to: '',
    noticedBy: ingest,
    test: 'a commit whose answer never came is neither lost nor doubled',
    says: /a commit whose answer never came is neither lost nor doubled/,
  },
];

/** Runs tests of a file in a copy of the project; what went wrong, or undefined when they pass. */
async function complaints(tree: TreeCopy, file: string, tests: readonly string[]): Promise<string | undefined> {
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
    TAP_GREP: `/^(${tests.join('|')})$/`,
  };
  const options = { cwd: tree.folder, timeout: 280_000, maxBuffer: 100_000_000, env };
  return new Promise((resolve) => {
    execFile('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, file], options, (error, stdout, stderr) => {
      if (error === null && !hasPassed(tests, stdout)) return resolve(`not all ran: ${tests.join(', ')}\n${stdout}`);
      if (error === null) return resolve(undefined);
      const failed = stdout.split('\n').filter((line) => /not ok|Error|message:|diff:|^\s+[-+]/.test(line));
      resolve(`${error.message}\n${failed.slice(0, 60).join('\n')}\n${stderr.slice(-2_000)}`);
    });
  });
}

/** A name that no test of the file has any more must not pass for one that is green. */
function hasPassed(tests: readonly string[], tap: string): boolean {
  return tests.every((name) => new RegExp(`^ok \\d+ - ${name}(?! # SKIP)`, 'm').test(tap));
}

// Two at a time: most of each is waiting. What one file notices is planted in one copy in turn, which is compiled once.
t.jobs = 2;

for (const [noticedBy, own] of Map.groupBy(mutants, (mutant) => mutant.noticedBy)) {
  void t.test(`what ${noticedBy} notices`, { timeout: 900_000, buffered: true }, async (t) => {
    const tree = copyTree();
    t.teardown(() => tree.remove());
    if (noticedBy === ingest) {
      const found = await complaints(
        tree,
        ingest,
        own.map(({ test }) => test),
      );
      t.equal(found, undefined, 'a copy without a mutant passes, so that a failure below is the mutant');
    }
    for (const { name, file, from, to, test, says } of own) {
      const restore = tree.change(file, from, to);
      const found = await complaints(tree, noticedBy, [test]);
      restore();
      caught(t, t.match(found, says, `without ${name} ${noticedBy} fails`), `product without ${name}`);
    }
  });
}
