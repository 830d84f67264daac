import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability } from '../incidents/index.ts';
import { tellDue } from '../incidents/job.ts';
import { alertParts } from './gateway.ts';
import { alertsCapability } from './index.ts';
import { startAlerting } from './job.ts';
import { alertsApi } from './rules/testing.ts';

void t.test(
  'a failing monitor is told to a webhook with a link that acknowledges it, also when the alert comes later',
  async (t) => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        received.push(body);
        response.end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

    const mails: string[] = [];
  const api = await alertsApi(t, [], {
    allowedPrivateTargets: ['127.0.0.0/8'],
    mailer: { send: async ({ text }) => void mails.push(text) },
  });
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${api.owner.id}`);
    const { id: monitorId } = await api.monitor({ name: 'Shop' });
    const config = await api.call('POST', '/api/v1/alert-channel-configs', {
      token: api.token,
      body: { channel: 'webhook', settings: { destinations: [{ key: 'a', name: 'A', url }] } },
    });
    t.equal(config.status, 201, config.text);
    const consumers = [...(incidentsCapability.consumers ?? []), ...(alertsCapability.consumers ?? [])];
    const consume = async () => {
      for (let quiet = 0; quiet < 2; ) {
        const done =
          (await workOnce(api.context, consumers)) + (await tellDue({ ...api.context, now: () => Date.now() + 5_000 }));
        quiet = done === 0 ? quiet + 1 : 0;
      }
    };
    const turn = async (from: string, to: string) => {
      const at = new Date().toISOString();
      const payload = {
        monitor_id: monitorId,
        workspace_id: api.workspaceId,
        from,
        to,
        at,
        detected_at: at,
        evidence: {},
        range_started_at: at,
      };
      await api.database.worker.transaction((tx) =>
        enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
      );
      await consume();
    };
    const alerting = await startAlerting(alertParts)(api.context, quietLog);
    t.teardown(() => alerting.stop());
    /** Until a message that has come fits; consuming meanwhile. */
    const until = async (fits: (body: string) => boolean): Promise<string> => {
      for (;;) {
        const found = received.find(fits);
        if (found !== undefined) return found;
        await consume();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    await turn('UP', 'DOWN');
  // The alert that the account was made with.
  const mail = await until(mails, (text) => text.includes('Shop'));
  // Whoever comes later is told at once.
  const target = { channel: 'webhook', config_id: Number(config.body['id']), target: 'a' };
  await api.alert({ name: 'Hook', steps: [{ targets: [target] }] });
  await until(received, (body) => body.includes('Shop'));
  const link = /\/alerts\/snooze\/[\w-]{43}/.exec(mail)?.[0] ?? '';
  t.match((await api.call('GET', link)).text, 'value="acknowledge"');
  const pressed = await api.call('POST', link, {
    body: 'action=acknowledge',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.equal(pressed.status, 200);
  t.notMatch(pressed.text, 'value="acknowledge"');
  const seen = received.length;
    await turn('DOWN', 'UP');
    await until(received, (body) => received.indexOf(body) >= seen && body.includes('Shop'));
    const history = async () =>
      (await api.alerts('GET', '/history?channel=webhook&status=sent')).body['history'] as { kind: string }[];
    while ((await history()).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    const kinds = (await history()).map(({ kind }) => kind);
    t.ok(kinds.includes('opened'), kinds.join());
    t.ok(kinds.includes('resolved') || kinds.includes('recovered'), kinds.join());
    const text = (await api.alerts('GET', '/history')).text;
  t.notMatch(text, '/alerts/snooze/', 'histories hold no link that does something');
});
  t.equal(pressed.status, 200);
  t.notMatch(pressed.text, 'value="acknowledge"');
  const seen = received.length;
    await turn('DOWN', 'UP');
    await until(received, (body) => received.indexOf(body) >= seen && body.includes('Shop'));
    const history = async () =>
      (await api.alerts('GET', '/history?channel=webhook&status=sent')).body['history'] as { kind: string }[];
    while ((await history()).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    const kinds = (await history()).map(({ kind }) => kind);
    t.ok(kinds.includes('opened'), kinds.join());
    t.ok(kinds.includes('resolved') || kinds.includes('recovered'), kinds.join());
    // The own address is not verified: the default alert says why it told nobody.
    const others = await api.database.worker.anyFirst(sql.type(z.object({ status: z.string() }))`
    select distinct status from notifications where channel = 'email'`);
    t.notOk(others.includes('sent'), others.join());
  },
);
