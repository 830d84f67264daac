import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { heartbeatsCapability } from '../../monitoring/heartbeats/index.ts';
import { noticeMisses as noticeMissedSignals } from '../../monitoring/heartbeats/watch/queries.ts';
import { noteTaken } from '../../monitoring/intake-watch/queries.ts';
import { noticeMisses as noticeMissedDeliveries } from '../../monitoring/webhook-checks/deadlines/job.ts';
import { webhookChecksCapability } from '../../monitoring/webhook-checks/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { startOutboxWorker, workOnce } from '../../platform/outbox/worker.ts';
import { liveEventsCapability } from './index.ts';
import { loopBus } from '../../testing/loop-bus.ts';
import { incidentsCapability } from '../../response/incidents/index.ts';
import { startTelling } from '../../response/incidents/job.ts';
import { incidentsApi } from '../../response/incidents/testing.ts';

/*
 * What heartbeats and webhook checks tell, as they tell it themselves, becomes incidents and events of the live stream. Nothing here is made up by the test
 * but the signals.
 */

type Subject = {
  readonly type: 'heartbeat' | 'webhook_check';
  readonly id: number;
  readonly fail: () => Promise<void>;
  readonly succeed: () => Promise<void>;
  /** What is expected does not come, and that is noticed. */
  readonly miss: () => Promise<void>;
  readonly call: (method: string, action?: string) => Promise<void>;
};

async function world(t: TestContext) {
  const bus = loopBus();
  const capabilities = [heartbeatsCapability, webhookChecksCapability, liveEventsCapability];
  const api = await incidentsApi(t, { more: capabilities, context: { bus, now: () => Date.now() } });
  const consumers = [incidentsCapability, ...capabilities].flatMap((one) => one.consumers ?? []);
  const { worker } = api.database;
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await api.call(method, path, { token: api.token, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const overdue = async (table: 'heartbeats' | 'webhook_checks', id: number): Promise<void> => {
    await worker.query(sql.unsafe`
      update ${sql.identifier([table])} set deadline_at = date_trunc('milliseconds', clock_timestamp()) - interval '1 minute' where id = ${id}`);
    await noteTaken(worker, []);
  };
  const subjectOf = (
    type: Subject['type'],
    path: string,
    id: number,
    more: Pick<Subject, 'fail' | 'succeed' | 'miss'>,
  ) => ({
    type,
    id,
    ...more,
    call: async (method: string, action = '') => {
      await must(method, `${path}/${id}${action}`);
    },
  });
  return {
    ...api,
    bus,
    consumers,
    settle: async () => {
      while ((await workOnce(api.context, consumers)) > 0);
    },
    heartbeat: async (name: string): Promise<Subject> => {
      const made = await must('POST', `/api/v1/heartbeats?workspace_id=${api.workspaceId}`, { name });
      const id = Number(made['id']);
      const ping = async (signal: string) => {
        const answer = await fetch(`${api.url}/ping/${String(made['uuid'])}${signal}`);
        if ((await answer.text()) !== 'OK') throw new Error(`${answer.status}`);
      };
      return subjectOf('heartbeat', '/api/v1/heartbeats', id, {
        fail: () => ping('/fail'),
        succeed: () => ping(''),
        miss: async () => {
          await overdue('heartbeats', id);
          await noticeMissedSignals(worker);
        },
      });
    },
    webhookCheck: async (name: string): Promise<Subject> => {
      const made = await must('POST', '/api/v1/webhook-checks', {
        workspace_id: api.workspaceId,
        name,
        signature: 'none',
        expected_interval_seconds: 3_600,
        rules: [{ path: '$.state', op: 'equals', value: 'bad', status: 'down' }],
      });
      const id = Number(made['id']);
      const deliver = async (state: string) => {
        const url = `${api.url}/api/v1/webhook-check/${String(made['slug'])}`;
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ state }) });
        if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
      };
      return subjectOf('webhook_check', '/api/v1/webhook-checks', id, {
        fail: () => deliver('bad'),
        succeed: () => deliver('good'),
        miss: async () => {
          await overdue('webhook_checks', id);
          await noticeMissedDeliveries(api.context);
        },
      });
    },
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** Incidents of a subject, the first first. */
async function incidentsOf(api: World, { type, id }: Subject) {
  const found = await api.incidents('GET', `?subject_type=${type}&subject_id=${id}`);
  return (found['incidents'] as readonly Record<string, unknown>[]).toReversed();
}

async function livesOf(api: World, type: Subject['type']): Promise<string[]> {
  const { rows } = await api.database.raw.query<{ kind: string }>(
    `select kind from live_events where kind like $1 || '.%' order by id`,
    [type],
  );
  return rows.map(({ kind }) => kind);
}

for (const type of ['heartbeat', 'webhook_check'] as const) {
  void t.test(`what a ${type} tells opens and ends incidents, and is in the live stream`, async (t) => {
    const api = await world(t);
    const subject = await (type === 'heartbeat' ? api.heartbeat('Backup') : api.webhookCheck('Backup'));
    const told = async () => (await api.messages()).map(({ kind, resolution }) => [kind, resolution ?? null]);

    await subject.succeed();
    await api.settle();
    t.same(await told(), [], 'all is well');

    await subject.miss();
    await api.settle();
    t.match(await incidentsOf(api, subject), [
      {
        title: 'Backup was missed',
        status: 'open',
        monitor_id: null,
        members: [{ type, id: subject.id, name: 'Backup' }],
      },
    ]);
    await subject.fail();
    await api.settle();
    t.match(
      await incidentsOf(api, subject),
      [{ status: 'open', members: [{ causes: [{ status: 'missed' }, { status: 'failed' }] }] }],
      'another cause of the same outage',
    );
    await subject.succeed();
    await api.settle();
    t.match(await incidentsOf(api, subject), [{ status: 'resolved', resolution: 'auto' }]);

    await subject.fail();
    await api.settle();
    await subject.call('POST', '/pause');
    await api.settle();
    t.match((await incidentsOf(api, subject)).slice(1), [
      { title: 'Backup has failed', status: 'resolved', resolution: 'paused' },
    ]);
    await subject.call('POST', '/resume');
    await subject.fail();
    await api.settle();
    await subject.call('DELETE');
    await api.settle();
    t.match((await incidentsOf(api, subject)).slice(2), [
      { title: 'Backup has failed', status: 'resolved', resolution: 'deleted' },
    ]);

    t.same(await told(), [
      ['incident.opened', null],
      ['incident.resolved', 'auto'],
      ['incident.opened', null],
      ['incident.resolved', 'paused'],
      ['incident.opened', null],
      ['incident.resolved', 'deleted'],
    ]);
    t.same(
      await livesOf(api, type),
      ['missed', 'failed', 'recovered', 'failed', 'paused', 'resumed', 'failed', 'deleted'].map(
        (what) => `${type}.${what}`,
      ),
    );
    const { rows } = await api.database.raw.query('select kind, last_error from outbox where attempts > 0');
    t.same(rows, [], 'every consumer took every event');
  });

  void t.test(`a ${type} that says that it has failed is an incident that is told within two seconds`, async (t) => {
    const api = await world(t);
    const services = [
      await startOutboxWorker(api.context, api.consumers),
      await startTelling(api.context, api.context.log),
    ];
    t.teardown(async () => {
      for (const service of services.toReversed()) await service.stop();
    });
    const subject = await (type === 'heartbeat' ? api.heartbeat('Backup') : api.webhookCheck('Backup'));
    const beganMs = Date.now();
    await subject.fail();
    const opened = async () => {
      const { rows } = await api.database.raw.query<{ at: Date }>(
        `select created_at as at from outbox where kind = 'incident.opened'`,
      );
      return rows;
    };
    while ((await opened()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const [{ at } = { at: new Date(0) }, ...more] = await opened();
    t.same(more, []);
    const tookMs = at.getTime() - beganMs;
    t.ok(tookMs < 2_000, `${tookMs} ms from the request to the message`);
  });
}
