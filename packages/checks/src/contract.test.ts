import type { Socket } from 'node:net';
import { lateness } from '@parallax/testkit/time-taken';
import t, { type Test } from 'tap';
import type { CheckContext } from './check.ts';
import { createResolver } from './net/resolve.ts';
import { type CheckOutcome, errorCodes, outcomes } from './outcome.ts';
import { type Protocol, protocols } from './registry.ts';
import { runCheck } from './run.ts';
import { testContext, until } from './testing/context.ts';
import { heldOpen, leftOpen } from './testing/held-open.ts';
import {
  hostileBrowsers,
  type HostilePeer,
  hostilePeerNames,
  openFullPort,
  openHostile,
  openPeer,
} from './testing/hostile-peers.ts';
import { peerIs, pointedAt } from './testing/pointed-at.ts';

const timeoutMs = 200;
const cancelAfterMs = 20;
const toleranceMs = 50;
/** A machine that stands still for a moment makes one run late; a check that is late makes all of them so. */
const attempts = 4;

/** While one type is worked on: its names, with commas between them. */
const only = process.env['PARALLAX_CONTRACT_TYPES']?.split(',');
const types = protocols.filter((protocol) => only?.includes(protocol) !== false);
const browsers = hostileBrowsers(t);
const fullPort = await openFullPort(t);

/** What is said at the end: for each type the peers that it did not survive, and what went wrong. */
const table = new Map<Protocol, Map<string, string>>(types.map((protocol) => [protocol, new Map()]));
const columns = [
  ...hostilePeerNames,
  'cancelled while connecting',
  'cancelled while waiting',
  'leaves nothing',
] as const;

/** Marks a cell of the table as the assertions of `judge` went. */
function cell(t: Test, protocol: Protocol, column: (typeof columns)[number], problems: readonly string[]): void {
  table.get(protocol)?.set(column, problems.join('; '));
  t.same(problems, [], `${protocol}: ${column}`);
}

type Aim = { readonly url: string; readonly settings: object; readonly context: Partial<CheckContext> };

/** A check of this type that meets a peer at a port of loopback, or as whom else it meets peers. */
function aimAt(protocol: Protocol, port: number, browser: HostilePeer): Aim {
  const { url, settings } = pointedAt[protocol](port);
  const who = peerIs[protocol];
  if (who === 'browser') return { url, settings, context: { browser: browsers[browser] } };
  if (who === undefined) return { url, settings, context: {} };
  return { url: 'peer.test', settings, context: { resolver: createResolver({ servers: [`127.0.0.1:${port}`] }) } };
}

/** What is wrong with an outcome after a hostile peer. */
function wrongWith(outcome: CheckOutcome, protocol: Protocol): readonly string[] {
  const wrong: string[] = [];
  const { code, message, source, evidence } = outcome;
  // A browser and a name server are the probe's own.
  const sources = { browser: ['target', 'probe'], 'name server': ['resolver'], undefined: ['target'] };
  const verdicts = peerIs[protocol] === 'browser' ? ['fail', 'timeout', 'probe_error'] : ['fail', 'timeout'];
  if (!outcomes.includes(outcome.outcome) || !verdicts.includes(outcome.outcome)) wrong.push(outcome.outcome);
  if (code === undefined || !Object.hasOwn(errorCodes, code)) wrong.push('no code');
  if (code === 'probe_internal') wrong.push(`a defect: ${message}`);
  if (!/^.{10,600}\.$/s.test(message ?? '')) wrong.push(`no sentence: ${message}`);
  if (!sources[`${peerIs[protocol]}`].includes(source ?? '')) wrong.push(`the fault of ${source}`);
  const durations = [outcome.total, ...Object.values(outcome.phases)];
  if (!durations.every((each) => Number.isSafeInteger(each) && each >= 0)) wrong.push(`times ${durations.join()}`);
  if ((evidence?.body?.length ?? 0) > 4096) wrong.push('a long body');
  return wrong;
}

async function meet(protocol: Protocol, what: HostilePeer): Promise<readonly string[]> {
  const peer = await openHostile(what);
  try {
    const { url, settings, context } = aimAt(protocol, peer.port, what);
    const run = () => runCheck(protocol, { url }, settings, testContext({ timeoutMs, ...context }));
    let met = await lateness(timeoutMs, run);
    for (let attempt = 1; attempt < attempts && met.late >= toleranceMs; attempt += 1)
      met = await lateness(timeoutMs, run);
    const wrong = [...wrongWith(met.result, protocol)];
    if (met.late >= toleranceMs) wrong.push(`${Math.round(met.late)} ms late`);
    await until(() => peer.connections.size === 0, 'all connections end').catch(() => wrong.push('left a connection'));
    return wrong;
  } finally {
    await peer.stop();
  }
}

/** Runs a check against a port, says after a moment that it is no longer wanted, and gives what is wrong with how it ends. */
async function cancel(protocol: Protocol, port: number): Promise<readonly string[]> {
  const { url, settings, context } = aimAt(protocol, port, 'never answers');
  let wrong: readonly string[] = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const before = heldOpen();
    const stop = new AbortController();
    const run = () =>
      runCheck(protocol, { url }, settings, testContext({ timeoutMs: 10_000, signal: stop.signal, ...context }));
    const { result: outcome, late } = await lateness(cancelAfterMs, run, () => stop.abort());
    wrong = outcome.code === 'cancelled' ? [] : [`${outcome.outcome} ${outcome.code}: ${outcome.message}`];
    if (late >= toleranceMs) wrong = [...wrong, `${Math.round(late)} ms late`];
    const left = await leftAfter(before);
    if (left.length > 0) return [...wrong, `left ${left.join(', ')}`];
    if (wrong.length === 0) return wrong;
  }
  return wrong;
}

/** What is still open a while later: the other side of a closed connection takes some turns, an ended process too. */
async function leftAfter(before: ReturnType<typeof heldOpen>): Promise<readonly string[]> {
  await until(() => leftOpen(before).length === 0, 'nothing is left').catch(() => undefined);
  return leftOpen(before);
}

for (const protocol of types) {
  void t.test(`${protocol} survives hostile peers, ends when it has to and leaves nothing`, async (t) => {
    const before = heldOpen();
    const all = hostilePeerNames.map((what) => async () => cell(t, protocol, what, await meet(protocol, what)));
    // A probe starts one browser at a time.
    if (peerIs[protocol] === 'browser') for (const each of all) await each();
    else await Promise.all(all.map((each) => each()));
    cell(t, protocol, 'cancelled while connecting', await cancel(protocol, fullPort));
    const silent = await openPeer((socket: Socket) => socket.resume());
    // Looked at before the other side is told to close, so that nothing hides behind it.
    const waiting = await cancel(protocol, silent.port);
    await silent.stop();
    cell(t, protocol, 'cancelled while waiting', waiting);
    cell(t, protocol, 'leaves nothing', await leftAfter(before));
  });
}

void t.test('the table', async (t) => {
  let held = 0;
  t.comment(`columns: ${columns.map((column, index) => `${index + 1} ${column}`).join(', ')}`);
  for (const [protocol, cells] of table) {
    const marks = columns.map((column) => (cells.get(column) === '' ? '+' : '-'));
    held += marks.filter((mark) => mark === '+').length;
    const apart = peerIs[protocol];
    t.comment(`${protocol.padEnd(10)} ${marks.join(' ')}${apart === undefined ? '' : `  (the peer is the ${apart})`}`);
    for (const [column, problem] of cells) if (problem !== '') t.comment(`  ${protocol}, ${column}: ${problem}`);
  }
  const all = table.size * columns.length;
  t.comment(`${table.size} check types × ${columns.length} = ${all}, of which ${held} held`);
  t.equal(held, all);
});
