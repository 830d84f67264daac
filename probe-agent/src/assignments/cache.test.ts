import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { leakGuard, processorMs } from '@parallax/testkit';
import t from 'tap';
import { silentLogger } from '../ports.ts';
import type { Logger } from '../ports.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { scratchFolder } from '../testing/results.ts';
import { until } from '../testing/until.ts';
import { AssignmentCache } from './cache.ts';
import type { AssignmentCacheOptions } from './cache.ts';
import { ageMs, longestConfirmationMs, refuseOld } from './confirmation-age.ts';
import type { Moment } from './confirmation-age.ts';
import { openAssignments, sealAssignments } from './sealed-assignments.ts';

leakGuard(t);

const hourMs = 3_600_000;
const startMs = 1_800_000_000_000;
const then: Moment = { bootId: 'b1', uptimeMs: 5_000, monotonicMs: 5_000, wallMs: startMs, serverMs: startMs };
const later = (ms: number, changes: Partial<Moment> = {}): Moment => ({
  bootId: 'b1',
  uptimeMs: then.uptimeMs + ms,
  monotonicMs: then.monotonicMs + ms,
  wallMs: then.wallMs + ms,
  serverMs: then.serverMs + ms,
  ...changes,
});
const owner = { probeId: 7, secret: new Uint8Array(32).fill(3) };
const secretUrl = 'http://127.0.0.1/with?token=canary-of-this-test';
const content = {
  revision: 12_345_678_901n,
  assignments: [
    anAssignment({
      monitorId: 4,
      url: secretUrl,
      revision: 12n,
      settingsJson: Buffer.from('{"header":"canary-of-this-test"}'),
    }),
    anAssignment({ monitorId: 9, shard: 1, supplement: true }),
  ],
  privateTargetsBasis: '1:10.0.0.0/8',
  deniedListeners: [{ address: '127.0.0.1', port: 5432 }],
};

void t.test('what is sealed is opened by the same probe and readable by nobody else', (t) => {
  const sealed = sealAssignments({ ...content, confirmed: then }, owner, randomBytes);
  t.notOk(sealed.includes('canary-of-this-test'));
  t.same(openAssignments(sealed, owner), { ...content, confirmed: then });
  t.match(openAssignments(sealed, { ...owner, probeId: 8 }), /another probe/);
  t.match(openAssignments(sealed, { ...owner, secret: new Uint8Array(32) }), /key of another probe/);
  const again = sealAssignments({ ...content, confirmed: then }, owner, randomBytes);
  t.notOk(again.subarray(13).equals(sealed.subarray(13)), 'with a key of its own each time');
  t.end();
});

void t.test('a file that is cut off anywhere or has any byte altered gives nothing', (t) => {
  const sealed = sealAssignments({ ...content, confirmed: then }, owner, randomBytes);
  for (let length = 0; length < sealed.length; length += 1)
    if (typeof openAssignments(sealed.subarray(0, length), owner) !== 'string') t.fail(`cut to ${length}`);
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    if (typeof openAssignments(altered, owner) !== 'string') t.fail(`altered at ${at}`);
  }
  t.type(openAssignments(Buffer.concat([sealed, Buffer.of(0)]), owner), 'string');
  t.end();
});

void t.test('within one boot the machine’s own counters tell the age, whatever the wall clock says', (t) => {
  for (const wallMs of [startMs - 2 * 365 * 24 * hourMs, startMs + 2 * 365 * 24 * hourMs])
    t.equal(ageMs(then, later(hourMs, { wallMs })), hourMs);
  t.equal(ageMs(then, later(30 * hourMs, { monotonicMs: then.monotonicMs + hourMs })), 30 * hourMs, 'sleep counts');
  t.equal(refuseOld(then, later(longestConfirmationMs)), undefined);
  t.match(refuseOld(then, later(longestConfirmationMs + hourMs)), /25 hours ago/);
  t.end();
});

void t.test('after another boot the wall clock tells, and one that is before the writing proves itself wrong', (t) => {
  const boot2 = (wallMs: number, from = then) =>
    refuseOld(from, { bootId: 'b2', uptimeMs: 1, monotonicMs: 1, wallMs, serverMs: wallMs });
  t.equal(boot2(startMs + 23 * hourMs), undefined);
  t.match(boot2(startMs + 25 * hourMs), /25 hours/);
  t.equal(boot2(startMs - 60_000), undefined, 'an ordinary correction');
  t.match(boot2(startMs - hourMs), /nobody can tell/, 'it may hide any age');
  const wrong = { ...then, wallMs: startMs + 2 * 365 * 24 * hourMs };
  t.equal(boot2(wrong.wallMs + hourMs, wrong), undefined, 'a clock that is always two years ahead');
  t.equal(boot2(startMs + hourMs, wrong), undefined, 'or was set right since');
  t.match(boot2(startMs + 26 * hourMs, wrong), /26 hours/);
  const rewound = later(hourMs, { uptimeMs: 10 });
  t.equal(ageMs(then, rewound), hourMs, 'counters that went back are those of another container');
  t.end();
});

/** A cache on a folder of its own with time that the test moves. */
function cacheOn(stateDir: string, changes: Partial<AssignmentCacheOptions> = {}) {
  const time = { now: then };
  const present = { content: content as typeof content | undefined };
  const warnings: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
  const cache = new AssignmentCache({
    stateDir,
    owner,
    now: () => time.now,
    present: () => present.content,
    logger,
    everyMs: 20,
    ...changes,
  });
  return { cache, time, present, warnings, file: path.join(stateDir, 'assignments.sealed') };
}

void t.test(
  'it is written some time after a change, readable by its owner only, and read by the next run',
  async (t) => {
    const stateDir = scratchFolder(t);
    const { cache, file } = cacheOn(stateDir);
    cache.changed();
    await cache.flush();
    t.notOk(existsSync(file), 'nothing that the control plane has not confirmed');
    cache.confirm();
    cache.changed();
    cache.changed();
    await until('it is written', () => existsSync(file));
    await cache.flush();
    t.equal(statSync(file).mode & 0o777, 0o600);
    const next = cacheOn(stateDir);
    next.time.now = later(3 * hourMs);
    t.same(await next.cache.read(), { ...content, confirmed: then });
    t.same(next.warnings, []);
    next.time.now = later(25 * hourMs);
    t.equal(await next.cache.read(), undefined);
    t.equal(next.warnings.length, 1, 'one warning says why');
    t.match(next.warnings[0], { reason: /25 hours ago/ });
  },
);

void t.test(
  'what cannot be used is ignored with one warning; what an interrupted writing left is removed',
  async (t) => {
    const stateDir = scratchFolder(t);
    const { cache, warnings, file } = cacheOn(stateDir);
    t.equal(await cache.read(), undefined);
    t.same(warnings, [], 'nothing was ever kept: nothing to say');
    writeFileSync(`${file}.4711.new`, 'half');
    writeFileSync(file, 'PLXASG');
    t.equal(await cache.read(), undefined);
    t.match(warnings, [{ file, reason: /cut off/ }]);
    t.same(readdirSync(stateDir), ['assignments.sealed']);
  },
);

void t.test('as long as the control plane is in touch its word is refreshed, though nothing changes', async (t) => {
  const stateDir = scratchFolder(t);
  const { cache, time, file } = cacheOn(stateDir);
  cache.confirm();
  cache.changed();
  await cache.flush();
  const first = readFileSync(file);
  time.now = later(60_000);
  cache.confirm();
  await cache.flush();
  t.ok(readFileSync(file).equals(first), 'not every minute');
  time.now = later(hourMs);
  cache.confirm();
  await cache.flush();
  const read = openAssignments(readFileSync(file), owner);
  t.match(read, { confirmed: { monotonicMs: then.monotonicMs + hourMs } });
});

void t.test('a probe that is none any more keeps nothing, until it is one again', async (t) => {
  const { cache, file } = cacheOn(scratchFolder(t));
  cache.confirm();
  cache.changed();
  await cache.flush();
  cache.changed();
  await cache.remove();
  t.notOk(existsSync(file));
  cache.changed();
  await cache.flush();
  t.notOk(existsSync(file));
  cache.allow();
  cache.changed();
  await cache.flush();
  t.ok(existsSync(file));
});

void t.test('10,000 assignments are sealed and opened in a fraction of a second', async (t) => {
  const assignments = Array.from({ length: 10_000 }, (_, index) =>
    anAssignment({
      monitorId: index + 1,
      url: `https://host-${index}.example.org/some/path`,
      settingsJson: Buffer.alloc(200, 'x'),
    }),
  );
  let sealed: Buffer = Buffer.alloc(0);
  const sealing = await processorMs(() => {
    sealed = sealAssignments({ ...content, assignments, confirmed: then }, owner, randomBytes);
  });
  let opened = '' as ReturnType<typeof openAssignments>;
  const opening = await processorMs(() => {
    opened = openAssignments(sealed, owner);
  });
  t.comment(`sealed ${sealed.length} bytes in ${sealing.toFixed(0)} ms, opened in ${opening.toFixed(0)} ms`);
  t.equal(typeof opened === 'string' ? 0 : opened.assignments.length, 10_000);
  t.ok(sealing + opening < 5_000);
});
