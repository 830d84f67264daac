import t from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import { mailsFor, mailsTo, mailThat, newAlert, newPerson } from '../harness/alerted.ts';
import { eventually } from '../harness/processes.ts';
import { enrolAgent, startProduct, untilOnline } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = { readonly status: string; readonly assigned_probes: readonly { readonly probe_id: number }[] };
type Ranges = {
  readonly status_ranges: readonly {
    readonly status: string;
    readonly ended_at: string | null;
    readonly evidence: {
      readonly quorum: number;
      readonly votes: readonly object[];
      readonly missing: readonly object[];
    };
  }[];
};

/*
 * A private probe watches a private target, which the control plane may not reach. Probes that enrolled and never came change no verdict, and a
 * probe that is lost makes no outage.
 */
t.test('one private probe decides alone, and its loss leaves UNKNOWN and a notice', { timeout: 240_000 }, async (t) => {
  const mails = await mailServer(t);
  const target = await startTarget();
  t.teardown(() => target.close());
  const product = await startProduct({ PARALLAX_ALLOWED_PRIVATE_TARGETS: 'none', ...mailsTo(mails) });
  t.teardown(() => product.stop());
  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  const { api, workspaceId } = ada;
  const place = { region: 'cellar', workspaceId };
  const agent = await enrolAgent(product, api, { ...place, name: 'cellar' });
  const running = agent.start();
  t.teardown(() => running.stop());
  await untilOnline(api, 1);
  for (const name of ['never-1', 'never-2']) await enrolAgent(product, api, { ...place, name });
  await newAlert(ada, {
    name: 'Lost sight',
    events: ['monitor.unknown', 'probe.offline'],
    steps: [{ targets: [{ channel: 'email' }] }],
  });

  const { id } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'Printer',
    url: target.url,
    interval_seconds: 2,
    timeout_seconds: 2,
  });
  const path = `/api/v1/monitors/${id}`;
  const monitor = () => api.call<Monitor>('GET', path, 200);
  const seen: string[] = [];
  const statusIs = (wanted: string, timeoutMs = 60_000) =>
    eventually(
      `status ${wanted}`,
      async () => {
        const { status } = await monitor();
        if (seen.at(-1) !== status) seen.push(status);
        return status === wanted;
      },
      { timeoutMs, everyMs: 250 },
    );
  const present = async () => (await api.call<Ranges>('GET', `${path}/status-ranges`, 200)).status_ranges[0];

  await t.test(
    'two probes that enrolled and never connected leave seats, quorum and verdict as they are',
    async (t) => {
      await statusIs('UP');
      t.match((await monitor()).assigned_probes, [{ probe_id: agent.probeId }]);
      t.equal((await monitor()).assigned_probes.length, 1);
      target.everybody('refuse');
      await statusIs('DOWN');
      const down = await present();
      t.match(down, { status: 'DOWN', evidence: { quorum: 1, votes: [{ probe_id: agent.probeId }] } });
      t.same(down?.evidence.missing, [], 'nobody is waited for');
      await mailThat(mails, ada.email, /Printer is down/);
      target.everybody('answer');
      await statusIs('UP');
      await mailThat(mails, ada.email, /Printer is up again/);
    },
  );

  await t.test('the lost probe leaves UNKNOWN, although the control plane may not look for itself', async (t) => {
    const [before, mailsBefore] = [seen.length, mailsFor(mails, ada.email).length];
    running.kill('SIGKILL');
    await running.ended;
    await statusIs('UNKNOWN', 100_000);
    await mailThat(mails, ada.email, /cellar is offline/, mailsBefore);
    await mailThat(mails, ada.email, /Printer/, mailsBefore);
    await statusIs('UNKNOWN');
    t.same(seen.slice(before), ['UNKNOWN'], 'and was nothing else in between');
    t.match(await present(), { status: 'UP', ended_at: String }, 'what was known has ended, and nothing follows it');
    const told = mailsFor(mails, ada.email).slice(mailsBefore);
    t.notOk(
      told.some(({ parsed }) => /is down/.test(`${parsed.subject}\n${parsed.text}`)),
      'and nobody reads of an outage',
    );
  });
});
