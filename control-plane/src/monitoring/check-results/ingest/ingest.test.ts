import t from 'tap';
import { compareTimelines } from './testing/compare-timelines.ts';
import { digestOf, lostMessage, message, result } from './testing/fixture.ts';
import { openIngestClient } from './job.ts';
import { clientWithCommit, eventually, fastLimits, world } from './testing/world.ts';

const secondsAgo = (seconds: number): number => (Date.now() - seconds * 1_000) * 1_000;
const failing = { outcome: 'fail', source: 'target', error: 20 } as const;

t.test('a published result is stored, folded, acknowledged to the broker and to the probe', async (t) => {
  const w = await world(t);
  const told: unknown[] = [];
  w.bus.listen(`dispatch.${w.probe.id}`, (hint) => {
    told.push(hint);
  });
  w.start();
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(2)), result(w.monitor, secondsAgo(1))]));
  await eventually(async () => (await w.cursor()) === 2, 'the cursor moves');
  t.equal(await w.count('check_results'), 2);
  t.equal((await w.pool.query<{ status: string }>('select status from monitors')).rows[0]?.status, 'UP');
  const open = await w.pool.query('select status, ended_at from status_ranges');
  t.match(open.rows, [{ status: 'UP', ended_at: null }]);
  const own = await w.pool.query('select status, ended_at, probe_id from probe_ranges');
  t.match(own.rows, [{ status: 'UP', ended_at: null, probe_id: w.probe.id }]);
  await eventually(async () => (await w.unread()) === 0, 'the broker forgets the message');
  await eventually(() => told.length > 0, 'the probe is told');
  t.same(told[0], { type: 'acknowledged', positions: [{ epoch: 1, shard: 0, seq: 2 }] });
});

t.test(
  'an outage becomes DOWN with its onset dated back, an outbox row and requests for second opinions',
  async (t) => {
    const w = await world(t, { probes: 2 });
    const [one, two] = w.probes;
    if (one === undefined || two === undefined) throw new Error('fixture');
    const rechecks: unknown[] = [];
    w.bus.listen(`dispatch.${two.id}`, (hint) => {
      rechecks.push(hint);
    });
    w.start();
    const atUs = secondsAgo(12);
    for (const probe of [one, two]) {
      await w.send(probe, w.batch(probe, {}, [result(w.monitor, atUs - 20_000_000)]));
    }
    await eventually(async () => (await w.count('check_results')) === 2, 'both are up');
    const evidence = { message: 'connection refused', json: '{"address":"127.0.0.1"}' };
    await w.send(one, w.batch(one, { firstSeq: 2 }, [result(w.monitor, atUs, { ...failing, evidence })]));
    await eventually(
      () => rechecks.some((hint) => (hint as { type: string }).type === 'recheck'),
      'the other probe is asked for a recheck',
    );
    await w.send(one, w.batch(one, { firstSeq: 3 }, [result(w.monitor, atUs + 5_000_000, failing)]));
    await w.send(
      two,
      w.batch(two, { firstSeq: 2 }, [
        result(w.monitor, atUs + 1_000_000, failing),
        result(w.monitor, atUs + 6_000_000, failing),
      ]),
    );
    await eventually(async () => {
      const found = await w.pool.query<{ status: string }>('select status from monitors');
      return found.rows[0]?.status === 'DOWN';
    }, 'DOWN');
    const rows = await w.pool.query<{ key: string; kind: string; payload: Record<string, unknown> }>(
      'select key, kind, payload from outbox order by id',
    );
    const last = rows.rows.at(-1);
    t.equal(last?.key, `monitor:${w.monitor}`);
    t.equal(last?.kind, 'monitor.transition');
    t.match(last?.payload, { monitor_id: w.monitor, to: 'DOWN', at: new Date(atUs / 1_000 + 1_000).toISOString() });
    t.equal(last?.payload['range_started_at'], last?.payload['at']);
    t.match(rows.rows[0]?.payload, { from: 'UNKNOWN', to: 'UP' });
    const kept = await w.pool.query('select message, evidence from result_evidence');
    t.match(kept.rows, [{ message: 'connection refused', evidence: { address: '127.0.0.1' } }]);
  },
);

t.test('a vote ends without a result arriving, and the mark moves while idle', async (t) => {
  const w = await world(t);
  let nowMs = Date.now();
  w.start({ now: () => nowMs });
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, nowMs * 1_000 - 1_000_000, { freshS: 10 })]));
  await eventually(async () => (await w.count('status_ranges where ended_at is null')) === 1, 'UP');
  nowMs += 60_000;
  await eventually(async () => (await w.count('status_ranges where ended_at is not null')) === 1, 'the range ends');
  const range = await w.pool.query<{ seconds: string }>(
    'select extract(epoch from ended_at - started_at)::integer as seconds from status_ranges',
  );
  t.equal(Number(range.rows[0]?.seconds), 10);
  t.match((await w.pool.query('select status from monitors')).rows, [{ status: 'UNKNOWN' }]);
  const folded = async () =>
    Number(
      (await w.pool.query<{ ms: string }>('select extract(epoch from folded_until) * 1000 as ms from shards')).rows[0]
        ?.ms,
    );
  await eventually(async () => (await folded()) === nowMs, 'the mark reaches the present, and not more');
});

t.test(
  'a gap is not taken: the probe is asked to send from the cursor, and then all of it is stored once',
  async (t) => {
    const w = await world(t);
    const at = secondsAgo(60);
    const part = (from: number, to: number) =>
      w.batch(
        w.probe,
        { firstSeq: from },
        Array.from({ length: to - from + 1 }, (_, index) => result(w.monitor, at + (from + index) * 1_000_000)),
      );
    const resends: unknown[] = [];
    w.bus.listen(`dispatch.${w.probe.id}`, (hint) => {
      if ((hint as { type: string }).type === 'resend') resends.push(hint);
    });
    w.start();
    await w.send(w.probe, part(1, 3));
    await eventually(async () => (await w.cursor()) === 3, 'the first part');
    await w.send(w.probe, part(7, 9));
    await eventually(() => resends.length === 1, 'a resend is asked for');
    t.same(resends[0], { type: 'resend', epoch: 1, shard: 0, seq: 4 });
    await eventually(async () => (await w.unread()) === 0, 'what was not taken is acknowledged away');
    t.equal(await w.count('check_results'), 3);
    // Overlapping and repeated, as a probe sends after a torn window.
    await w.send(w.probe, part(2, 6));
    await w.send(w.probe, part(4, 9));
    await w.send(w.probe, part(1, 9));
    await eventually(async () => (await w.cursor()) === 9 && (await w.unread()) === 0, 'all of it');
    t.equal(await w.count('check_results'), 9);
    t.equal(await w.count('(select distinct e from check_results) d'), 9);
  },
);

t.test('what a probe may not say is refused at first sight, named, and never redelivered', async (t) => {
  const w = await world(t, { probes: 2 });
  const [one, two] = w.probes;
  if (one === undefined || two === undefined) throw new Error('fixture');
  const [foreign] = await w.addMonitors(1, [two]);
  if (foreign === undefined) throw new Error('fixture');
  w.start();
  const at = secondsAgo(5);
  const good = w.batch(one, {}, [result(w.monitor, at)]);
  const forged = Buffer.from(good);
  forged[forged.length - 1] = (forged[forged.length - 1] ?? 0) ^ 1;
  await w.send(one, forged);
  await w.send(one, message({ ...two, id: one.id }, { epoch: 1, shard: 0, firstSeq: 1 }, [result(w.monitor, at)]));
  await w.send(one, message(one, { epoch: 1, shard: 0, firstSeq: 1 }, [result(w.monitor, at)], two.id));
  await w.send(one, message(one, { epoch: 1, shard: 1, firstSeq: 1 }, [result(w.monitor, at)]));
  await w.send(one, Buffer.from('rubbish'));
  await w.send(one, w.batch(one, { firstSeq: 1 }, [result(999_999, at)]));
  await w.send(one, w.batch(one, { firstSeq: 2 }, [result(w.monitor, at), result(foreign, at)]));
  await w.send(one, w.batch(one, { firstSeq: 4 }, [result(w.monitor, at)]));
  await eventually(
    async () => (await w.cursor()) === 4 && (await w.unread()) === 0,
    'the good batch behind them is taken',
  );
  const rejected = await w.pool.query<{ reason: string; digest: Buffer; probe_id: number }>(
    'select reason, digest, probe_id from rejected_batches order by id',
  );
  t.same(
    rejected.rows.map((row) => row.reason),
    ['bad_signature', 'bad_signature', 'other_probe', 'other_shard', 'not_signed', 'unknown_monitor', 'never_assigned'],
  );
  t.equal(rejected.rows[0]?.digest.toString('hex'), digestOf(forged));
  t.ok(rejected.rows.every((row) => row.probe_id === one.id));
  t.equal(await w.count('check_results'), 1, 'nothing of what was refused is stored');
  t.equal(w.logged('refused for ever').length, 7);
});

t.test('a revoked probe is refused', async (t) => {
  const w = await world(t);
  w.start();
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(5))]));
  await eventually(async () => (await w.cursor()) === 1, 'the first is taken');
  // The subject stays in the stream until the ingest has seen the revocation, as it does when messages are on their way.
  await w.pool.query('update probes set revoked_at = now()');
  const sent = await w.bus.connection
    .request(`results.${w.probe.id}.0`, w.batch(w.probe, { firstSeq: 2 }, [result(w.monitor, secondsAgo(4))]), {
      timeout: 1_000,
    })
    .catch(() => undefined);
  await eventually(async () => {
    const again = await w.bus.connection
      .request(`results.${w.probe.id}.0`, '', { timeout: 200 })
      .catch(() => undefined);
    return again === undefined;
  }, 'its subject leaves the stream');
  t.ok((await w.count('check_results')) <= (sent === undefined ? 1 : 2));
  // In one statement: a commit between two would be taken for a fault.
  const { rows } = await w.pool.query<{ seq: string; stored: string }>(
    'select seq, (select count(*) from check_results) as stored from cursors',
  );
  t.equal(rows[0]?.seq, rows[0]?.stored);
});

t.test('rows out of time are dropped and counted while the cursor moves; late ones are marked', async (t) => {
  const w = await world(t);
  w.start();
  const day = 86_400;
  await w.send(
    w.probe,
    w.batch(w.probe, {}, [
      result(w.monitor, secondsAgo(2.5 * day)),
      result(w.monitor, secondsAgo(2 * day)),
      result(w.monitor, secondsAgo(600)),
      result(w.monitor, secondsAgo(-300)),
      result(w.monitor, secondsAgo(-20)),
      result(w.monitor, secondsAgo(1)),
    ]),
  );
  await eventually(async () => (await w.cursor()) === 6, 'the cursor moves over all');
  const rows = await w.pool.query<{ late: boolean; ahead: boolean }>(
    'select flags & 512 <> 0 as late, e > received_at as ahead from check_results order by e',
  );
  t.same(rows.rows, [
    { late: true, ahead: false },
    { late: true, ahead: false },
    { late: false, ahead: false },
    { late: false, ahead: false },
  ]);
  const rejected = await w.pool.query<{ reason: string; detail: string }>(
    'select reason, detail from rejected_batches',
  );
  t.match(rejected.rows, [{ reason: 'rows_out_of_time', detail: /^1 older than 49 h, 1 more than 60 s ahead/ }]);
});

t.test('results whose time is cut to their receipt stay apart', async (t) => {
  const w = await world(t);
  const nowMs = Date.now();
  w.start({ now: () => nowMs });
  for (let seq = 1; seq <= 5; seq += 2) {
    const ahead = nowMs * 1_000 + 20_000_000;
    await w.send(
      w.probe,
      w.batch(w.probe, { firstSeq: seq }, [result(w.monitor, ahead), result(w.monitor, ahead + 1)]),
    );
  }
  await eventually(async () => (await w.cursor()) === 6, 'all are taken');
  t.equal(await w.count('(select distinct e from check_results) d'), 6);
});

t.test('of two results of one instant both are read again, or none', async (t) => {
  const w = await world(t);
  let shard = w.start();
  const own = { outcome: 'probe_error', source: 'probe' } as const;
  const silent = { outcome: 'timeout', source: 'target', error: 20 } as const;
  const beganUs = secondsAgo(1_500);
  const at = (seconds: number, changed: object) => result(w.monitor, beganUs + seconds * 1_000_000, changed);
  const late = [
    at(360, own),
    at(360, failing),
    ...[390, 440, 490, 540, 590, 640, 690, 740, 790].map((s) => at(s, silent)),
  ];
  for (const [index, row] of late.entries()) {
    if (row.effectiveUs === beganUs + 640_000_000) {
      // The next owner reads what came before from the database.
      await shard.stop();
      shard = w.start({ replica: 'b' });
    }
    await w.send(w.probe, w.batch(w.probe, { firstSeq: index + 1 }, [row]));
    await eventually(async () => (await w.cursor()) === index + 1, 'it is taken');
  }
  t.same(await compareTimelines(w.pool, [w.probe.id]), []);
});

t.test('dropped results move the cursor and are recorded', async (t) => {
  const w = await world(t);
  w.start();
  const at = secondsAgo(100);
  await w.send(
    w.probe,
    lostMessage(w.probe, { epoch: 1, shard: 0, firstSeq: 1 }, { toSeq: 50, fromUs: at, toUs: at + 7 }),
  );
  await w.send(w.probe, w.batch(w.probe, { firstSeq: 51 }, [result(w.monitor, secondsAgo(1))]));
  await eventually(async () => (await w.cursor()) === 51, 'the cursor');
  const lost = await w.pool.query('select from_seq, to_seq, from_at, to_at from lost_results');
  t.match(lost.rows, [{ from_seq: '1', to_seq: '50', from_at: new Date(at / 1_000) }]);
  t.equal(await w.count('check_results'), 1);
});

t.test('hostile evidence fails nobody', async (t) => {
  const w = await world(t);
  w.start();
  const jsons = ['{"a":"\\u0000"}', 'no json', '"\\ud800"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, '{"ok":1}'];
  await w.send(
    w.probe,
    w.batch(
      w.probe,
      {},
      jsons.map((json, index) =>
        result(w.monitor, secondsAgo(9 - index), { ...failing, evidence: { message: 'a\0b', json } }),
      ),
    ),
  );
  await eventually(async () => (await w.cursor()) === 5, 'stored');
  t.equal(await w.count('result_evidence'), 5);
  t.equal(await w.count(`result_evidence where message = 'ab'`), 5);
});

t.test('a commit whose answer never came is neither lost nor doubled', async (t) => {
  const w = await world(t);
  let isTorn = false;
  w.start({
    openClient: async () => {
      const client = await openIngestClient(w.urls.worker, 'test ingest');
      return clientWithCommit(client, async (commit) => {
        if (isTorn) return commit();
        isTorn = true;
        await commit();
        throw new Error('the connection broke before the answer');
      });
    },
  });
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(2))]));
  await w.send(w.probe, w.batch(w.probe, { firstSeq: 2 }, [result(w.monitor, secondsAgo(1))]));
  await eventually(async () => (await w.cursor()) === 2 && (await w.unread()) === 0, 'both are taken');
  t.ok(isTorn);
  t.equal(await w.count('check_results'), 2);
  t.equal(await w.count('status_ranges'), 1);
});

t.test('a backend that dies at the commit loses nothing and doubles nothing', async (t) => {
  const w = await world(t);
  let deaths = 0;
  w.start({
    openClient: async () => {
      const client = await openIngestClient(w.urls.worker, 'test ingest');
      const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
      return clientWithCommit(client, async (commit) => {
        deaths += 1;
        if (deaths % 2 === 0) return commit();
        // Terminated from outside while the commit is on its way: it may or may not have happened.
        const [outcome] = await Promise.allSettled([commit(), w.pool.query('select pg_terminate_backend($1)', [pid])]);
        if (outcome.status === 'rejected') throw outcome.reason;
        throw new Error('the connection broke');
      });
    },
  });
  for (let seq = 1; seq <= 5; seq += 1) {
    await w.send(w.probe, w.batch(w.probe, { firstSeq: seq }, [result(w.monitor, secondsAgo(30) + seq * 1_000_000)]));
    await eventually(async () => (await w.cursor()) === seq, `result ${seq}`);
  }
  await eventually(async () => (await w.unread()) === 0, 'all are acknowledged');
  t.ok(deaths >= 3);
  t.equal(await w.count('check_results'), 5);
  t.equal(await w.count('(select distinct e from check_results) d'), 5);
});

t.test('an owner whose term is over writes nothing', async (t) => {
  const w = await world(t);
  w.start({ limits: { lingerMs: 5, idleMs: 60_000, pollMs: 20, probesMs: 20, expiryMs: 5 } });
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(9))]));
  await eventually(async () => (await w.cursor()) === 1, 'it owns the shard');
  await w.pool.query(`update shards set owner = 'b', term = term + 1`);
  await w.send(w.probe, w.batch(w.probe, { firstSeq: 2 }, [result(w.monitor, secondsAgo(5))]));
  await eventually(() => w.logged('not ours any more').length > 0, 'it notices');
  // Its session's lock was let go, so it may claim the shard anew, under a new term.
  await eventually(async () => (await w.cursor()) === 2, 'taken under the new term');
  t.equal(await w.count('check_results'), 2);
  t.ok(Number((await w.pool.query<{ term: string }>('select term from shards')).rows[0]?.term) >= 3);
});

t.test(
  'two replicas: one owns the shard, the other takes over at once when the session of the first dies',
  async (t) => {
    const w = await world(t);
    const opened: string[] = [];
    const open = (name: string) => async () => {
      const client = await openIngestClient(w.urls.worker, `test ${name}`);
      opened.push(name);
      return client;
    };
    const a = w.start({ replica: 'a', openClient: open('a') });
    await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(9))]));
    await eventually(async () => (await w.cursor()) === 1, 'a owns');
    w.start({ replica: 'b', openClient: open('b') });
    await w.send(w.probe, w.batch(w.probe, { firstSeq: 2 }, [result(w.monitor, secondsAgo(8))]));
    await eventually(async () => (await w.cursor()) === 2, 'a goes on');
    t.same(opened, ['a']);
    await a.stop();
    await w.send(w.probe, w.batch(w.probe, { firstSeq: 3 }, [result(w.monitor, secondsAgo(7))]));
    await eventually(async () => (await w.cursor()) === 3, 'b goes on');
    t.match((await w.pool.query('select owner from shards')).rows, [{ owner: 'b' }]);
    t.equal(await w.count('check_results'), 3);
  },
);

t.test('configuration changes are taken in: a new monitor, a pause, a deletion', async (t) => {
  const w = await world(t);
  w.start();
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(5))]));
  await eventually(async () => (await w.cursor()) === 1, 'the first is taken');
  const [added] = await w.addMonitors(1);
  if (added === undefined) throw new Error('fixture');
  await w.send(w.probe, w.batch(w.probe, { firstSeq: 2 }, [result(added, secondsAgo(4))]));
  await eventually(async () => (await w.count(`monitors where status = 'UP'`)) === 2, 'the new monitor is up');
  await w.pool.query(
    `with p as (insert into pauses (monitor_id, started_at) values ($1, now())) update monitors set changed_xid = pg_current_xact_id() where id = $1`,
    [added],
  );
  await eventually(async () => (await w.count(`monitors where status = 'UNKNOWN'`)) === 1, 'paused is unknown');
  await w.pool.query('update monitors set deleted_at = now(), changed_xid = pg_current_xact_id() where id = $1', [
    added,
  ]);
  // The deletion is seen at the next look at the configuration, and from then on the cursor moves over what comes.
  const stored = () => w.count(`check_results where monitor_id = ${added}`);
  let seq = 2;
  await eventually(async () => {
    const before = await stored();
    seq += 1;
    const sent = seq;
    await w.send(w.probe, w.batch(w.probe, { firstSeq: sent }, [result(added, secondsAgo(3) + sent)]));
    await eventually(async () => (await w.cursor()) === sent, 'the cursor moves over it');
    return (await stored()) === before;
  }, 'nothing more of a deleted monitor is stored');
  await w.send(w.probe, w.batch(w.probe, { firstSeq: seq + 1 }, [result(w.monitor, secondsAgo(1))]));
  await eventually(async () => (await w.count(`check_results where monitor_id = ${w.monitor}`)) === 2, 'others go on');
  t.equal(await w.count('rejected_batches'), 0);
});

t.test('the broker is killed again and again: everything published is stored once', async (t) => {
  const w = await world(t);
  w.start();
  const at = secondsAgo(600);
  for (let round = 0; round < 3; round += 1) {
    const seq = 1 + round * 2;
    await w.send(w.probe, w.batch(w.probe, { firstSeq: seq }, [result(w.monitor, at + seq * 1_000_000)]));
    await w.nats.kill();
    await w.nats.start();
    // What was acknowledged by the broker may be gone: the probe sends again what is not committed.
    await w.send(
      w.probe,
      w.batch(w.probe, { firstSeq: seq }, [
        result(w.monitor, at + seq * 1_000_000),
        result(w.monitor, at + (seq + 1) * 1_000_000),
      ]),
    );
    await eventually(async () => (await w.cursor()) === seq + 1, `round ${round}`);
  }
  t.equal(await w.count('check_results'), 6);
});

t.test('a restart that finds a backlog shows no gap: time stands still until it is read', async (t) => {
  const w = await world(t);
  let nowMs = Date.now() - 600_000;
  const options = { now: () => nowMs, limits: { ...fastLimits, holdMs: 10_000 } };
  const first = w.start(options);
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, nowMs * 1_000 - 1_000, { freshS: 20 })]));
  await eventually(async () => (await w.count(`monitors where status = 'UP'`)) === 1, 'UP');
  await first.stop();
  for (let seq = 2; seq <= 40; seq += 1) {
    nowMs += 10_000;
    await w.send(
      w.probe,
      w.batch(w.probe, { firstSeq: seq }, [result(w.monitor, nowMs * 1_000 - 1_000, { freshS: 20 })]),
    );
  }
  w.start({ ...options, limits: { ...options.limits, rows: 3 } });
  const folded = async () =>
    Number(
      (await w.pool.query<{ ms: string }>('select extract(epoch from folded_until) * 1000 as ms from shards')).rows[0]
        ?.ms,
    );
  await eventually(async () => (await folded()) >= nowMs, 'folded up to the present');
  t.equal(await w.cursor(), 40);
  t.equal(await w.count('status_ranges'), 1);
  t.equal(await w.count('outbox'), 1, 'nobody was told of an UNKNOWN that never was');
});

t.test('without a backlog a restart tells at once what ended meanwhile', async (t) => {
  const w = await world(t);
  let nowMs = Date.now() - 600_000;
  const options = { now: () => nowMs, limits: { ...fastLimits, holdMs: 60_000 } };
  const first = w.start(options);
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, nowMs * 1_000 - 1_000, { freshS: 20 })]));
  await eventually(async () => (await w.count(`monitors where status = 'UP'`)) === 1, 'UP');
  await first.stop();
  nowMs += 300_000;
  w.start(options);
  await eventually(async () => (await w.count(`monitors where status = 'UNKNOWN'`)) === 1, 'UNKNOWN');
  t.equal(await w.count('outbox'), 2);
});

t.test('what was fetched and not settled when the broker died comes again at once, and is known', async (t) => {
  const w = await world(t);
  const restarted = Promise.withResolvers<void>();
  const committing = Promise.withResolvers<void>();
  w.start({
    openClient: async () =>
      clientWithCommit(await openIngestClient(w.urls.worker, 'test ingest'), async (commit) => {
        committing.resolve();
        await restarted.promise;
        return commit();
      }),
  });
  await w.send(w.probe, w.batch(w.probe, {}, [result(w.monitor, secondsAgo(2))]));
  await committing.promise;
  await w.nats.kill();
  await w.nats.start();
  await eventually(async () => (await w.unread()) === 1, 'the message outlived the broker');
  restarted.resolve();
  await eventually(async () => (await w.unread()) === 0, 'the message is settled through a new consumer');
  t.equal(await w.count('check_results'), 1);
});

t.test('two shards are folded apart, each with its own consumer, cursors and mark', async (t) => {
  const w = await world(t, { monitors: 2 });
  const [zero = 0, one = 0] = w.monitors;
  await w.pool.query('insert into shards (shard) values (1)');
  await w.pool.query('update monitors set shard = 1 where id = $1', [one]);
  w.start({ shards: 2 });
  w.start({ shards: 2, shard: 1 });
  await w.send(w.probe, w.batch(w.probe, { shard: 0 }, [result(zero, secondsAgo(3))]), 0);
  await w.send(w.probe, w.batch(w.probe, { shard: 1 }, [result(one, secondsAgo(3)), result(one, secondsAgo(2))]), 1);
  await w.send(w.probe, w.batch(w.probe, { shard: 1, firstSeq: 3 }, [result(zero, secondsAgo(1))]), 1);
  await eventually(async () => (await w.cursor()) === 3 && (await w.unread()) === 0, 'all are taken');
  const cursors = await w.pool.query('select shard, seq from cursors order by shard');
  t.same(cursors.rows, [
    { shard: 0, seq: '1' },
    { shard: 1, seq: '3' },
  ]);
  t.equal(await w.count(`monitors where status = 'UP'`), 2);
  t.equal(await w.count('check_results'), 3);
  const rejected = await w.pool.query('select reason from rejected_batches');
  t.match(rejected.rows, [{ reason: 'unknown_monitor' }], 'a monitor of another shard is not known here');
  t.equal(await w.count('shards where folded_until is not null'), 2);
});
