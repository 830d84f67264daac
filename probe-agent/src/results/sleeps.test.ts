import { errorCodes } from '@parallax/checks';
import t from 'tap';
import { ServerClock } from '../runner/clock.ts';
import { aResult, openLog, scratchFolder } from '../testing/results.ts';
import { Placement } from './placement.ts';

/* Machines that sleep at inconvenient moments, as the simulation found them. */

const at = (seconds: number): number => seconds * 1_000_000;
const serverUs = (seconds: number): number => 1_800_000_000_000_000 + at(seconds);

void t.test(
  'a result from between two sleeps without a synchronisation does not hold up those behind it',
  async (t) => {
    const log = await openLog(scratchFolder(t), { monotonicUs: () => at(40) });
    t.teardown(() => log.close());
    log.anchor({ kind: 'sync', monotonicUs: at(10), serverUs: serverUs(10) });
    log.append(0, at(11), aResult(1, { effectiveUs: serverUs(11) }));
    log.anchor({ kind: 'break', monotonicUs: at(20), serverUs: 0 });
    log.append(0, at(21), aResult(2, { effectiveUs: 0 }));
    await log.flush();
    const [stream] = log.streams();
    if (stream === undefined) throw new Error('there is no stream');
    t.equal(await log.read(stream, 2), undefined, 'a synchronisation may yet tell');
    log.anchor({ kind: 'break', monotonicUs: at(22), serverUs: 0 });
    log.anchor({ kind: 'sync', monotonicUs: at(23), serverUs: serverUs(200) });
    log.append(0, at(24), aResult(3, { effectiveUs: serverUs(201) }));
    await log.flush();
    const read = await log.read(stream, 2);
    t.match(read?.results?.[0], { monitorId: 2, outcome: 'probe_error', error: errorCodes.probe_clock });
    const next = await log.read(stream, 3);
    t.match(next?.results?.[0], { monitorId: 3, outcome: 'ok', effectiveUs: serverUs(201) });
  },
);

void t.test(
  'beyond a jump of the wall clock nothing is placed by a synchronisation on one side of it alone',
  async (t) => {
    const before = new Placement();
    before.add({ kind: 'sync', monotonicUs: at(100), serverUs: at(1_000) });
    before.add({ kind: 'jump', monotonicUs: at(150), serverUs: 0 });
    t.equal(before.place(at(140))?.serverUs, at(1_040));
    t.ok((before.place(at(140))?.errorUs ?? Infinity) < at(1), 'on its own side it is');
    t.equal(before.place(at(160))?.errorUs, Infinity, 'the machine may have slept');
    const after = new Placement();
    after.add({ kind: 'jump', monotonicUs: at(150), serverUs: 0 });
    after.add({ kind: 'sync', monotonicUs: at(200), serverUs: at(1_000) });
    t.equal(after.place(at(140))?.errorUs, Infinity);
    t.ok((after.place(at(160))?.errorUs ?? Infinity) < at(1));
  },
);

void t.test('an answer of the control plane that waited while the machine slept does not set the clock', async (t) => {
  let realUs = at(100);
  let sleptUs = 0;
  const clock = new ServerClock({
    monotonicUs: () => realUs - sleptUs,
    wallMs: () => serverUs(realUs / 1_000_000) / 1_000,
    onAnchor: () => undefined,
  });
  const exchange = (sleepUs: number): void => {
    const sentUs = realUs - sleptUs;
    realUs += 10_000;
    const answered = serverUs(realUs / 1_000_000);
    realUs += sleepUs + 10_000;
    sleptUs += sleepUs;
    clock.synchronise({ sentUs, receivedUs: realUs - sleptUs, serverUs: answered });
  };
  const beside = (): number => Math.abs(clock.effectiveUs(realUs - sleptUs) - serverUs(realUs / 1_000_000));
  exchange(0);
  t.ok(beside() < 20_000);
  realUs += at(4);
  exchange(at(19));
  t.equal(clock.effectiveUs(realUs - sleptUs), 0, 'results wait');
  realUs += 250_000;
  exchange(0);
  t.ok(beside() < 20_000, 'the next one sets it');
});

void t.test('nor does the first answer that an agent ever gets', async (t) => {
  let realUs = at(100);
  let sleptUs = 0;
  const clock = new ServerClock({
    monotonicUs: () => realUs - sleptUs,
    wallMs: () => serverUs(realUs / 1_000_000) / 1_000,
    onAnchor: () => undefined,
  });
  const sentUs = realUs;
  const answered = serverUs(realUs / 1_000_000);
  realUs += at(23) + 10_000;
  sleptUs += at(23);
  clock.synchronise({ sentUs, receivedUs: realUs - sleptUs, serverUs: answered });
  t.equal(clock.isKnown, false);
  realUs += 10_000;
  const nowUs = realUs - sleptUs;
  clock.synchronise({ sentUs: nowUs - 2_000, receivedUs: nowUs, serverUs: serverUs(realUs / 1_000_000) - 1_000 });
  t.ok(Math.abs(clock.effectiveUs(nowUs) - serverUs(realUs / 1_000_000)) < 20_000, 'the next one sets the clock');
});

void t.test('a machine that slept unseen between two runs of the agent', async (t) => {
  const resultAfterRestart = async (sleptMs: number | undefined, jumpsLater: boolean) => {
    const folder = scratchFolder(t);
    const first = await openLog(folder, { monotonicUs: () => at(9) });
    first.anchor({ kind: 'sync', monotonicUs: at(10), serverUs: serverUs(10) });
    await first.flush();
    await first.close();
    const log = await openLog(folder, { monotonicUs: () => at(20), sleptMs: () => sleptMs });
    t.teardown(() => log.close());
    log.append(0, at(21), aResult(1, { effectiveUs: 0, freshS: 12 }));
    if (jumpsLater) log.anchor({ kind: 'jump', monotonicUs: at(22), serverUs: 0 });
    log.anchor({ kind: 'sync', monotonicUs: at(25), serverUs: serverUs(34) });
    await log.flush();
    const [stream] = log.streams();
    return stream && (await log.read(stream, 1))?.results?.[0];
  };
  t.match(await resultAfterRestart(undefined, false), { outcome: 'ok', effectiveUs: serverUs(30) });
  t.match(
    await resultAfterRestart(9_000, true),
    { outcome: 'probe_error', error: errorCodes.probe_clock },
    'with a jump of the wall clock behind it nobody knows on which side of the result it slept',
  );
  t.match(
    await resultAfterRestart(0, true),
    { outcome: 'ok', effectiveUs: serverUs(21) },
    'where the system says that it had never slept, only the later jump can have been the sleep',
  );
});
