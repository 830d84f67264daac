import t from 'tap';
import { isConfirmed, phasesOf, rawStatus, responseTimeMs } from './raw-status.ts';

const status = (
  outcome: Parameters<typeof rawStatus>[0]['outcome'],
  confirmed = false,
  kind: 'scheduled' | 'manual' = 'scheduled',
) => rawStatus({ kind, outcome, isConfirmed: confirmed });

void t.test('the status of a row follows from its outcome', async (t) => {
  t.equal(status('ok'), 'UP');
  t.equal(status('slow'), 'DEGRADED');
  t.equal(status('warn'), 'WARNING');
  t.equal(status('skipped'), 'skipped');
  t.equal(status('probe_error'), 'UNKNOWN');
  t.equal(status('fail'), 'transient');
  t.equal(status('timeout'), 'transient');
  t.equal(status('fail', true), 'DOWN');
  t.equal(status('timeout', true), 'TIMEOUT');
  t.equal(status('fail', false, 'manual'), 'DOWN');
  t.equal(status('timeout', false, 'manual'), 'TIMEOUT');
});

void t.test('a failure is confirmed by a run of its own probe at its own time', async (t) => {
  const runs = new Map([
    [
      1,
      [
        { startedMs: 100, endedMs: 200 },
        { startedMs: 200, endedMs: 250 },
        { startedMs: 400, endedMs: 500 },
      ],
    ],
    [2, [{ startedMs: 300, endedMs: null }]],
  ]);
  t.ok(isConfirmed(runs, { probeId: 1, effectiveMs: 100 }));
  t.notOk(isConfirmed(runs, { probeId: 1, effectiveMs: 99 }));
  t.ok(isConfirmed(runs, { probeId: 1, effectiveMs: 249 }));
  t.notOk(isConfirmed(runs, { probeId: 1, effectiveMs: 250 }));
  t.notOk(isConfirmed(runs, { probeId: 1, effectiveMs: 399 }));
  t.ok(isConfirmed(runs, { probeId: 1, effectiveMs: 499 }));
  t.notOk(isConfirmed(runs, { probeId: 1, effectiveMs: 500 }));
  t.notOk(isConfirmed(runs, { probeId: 3, effectiveMs: 150 }));
  t.notOk(isConfirmed(runs, { probeId: 2, effectiveMs: 150 }));
  t.ok(isConfirmed(runs, { probeId: 2, effectiveMs: 5_000 }));
});

void t.test('times are milliseconds to a microsecond, and absent where nothing ran', async (t) => {
  t.equal(responseTimeMs('ok', 12_345), 12.345);
  t.equal(responseTimeMs('timeout', 10_000_000), 10_000);
  t.equal(responseTimeMs('skipped', 0), null);
  t.equal(responseTimeMs('probe_error', 5), null);
  t.same(phasesOf({ dns: 0, connect: 1_500, tls: null }), {
    dns_ms: 0,
    connect_ms: 1.5,
    tls_ms: null,
    first_byte_ms: null,
    transfer_ms: null,
  });
});
