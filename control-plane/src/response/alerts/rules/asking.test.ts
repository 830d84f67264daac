import t from 'tap';
import { takeMails } from '../../../identity/accounts/testing.ts';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { alertsApi } from './testing.ts';
import type { AlertsApi } from './testing.ts';

const mail = (...addresses: (string | undefined)[]) => [
  { targets: addresses.map((target) => ({ channel: 'email', ...(target === undefined ? {} : { target }) })) },
];

/** Whom letters went to that ask, and the path of the link in the last one. */
async function asked(api: AlertsApi) {
  const letters = (await takeMails(api)).filter(({ text }) => text.includes('/mail-alerts/plmc_'));
  const token = /mail-alerts\/(plmc_[0-9A-Za-z]+)/.exec(letters.at(-1)?.text ?? '')?.[1] ?? 'none';
  return { to: letters.map(({ to }) => to), link: `/api/v1/public/mail-alerts/${token}` };
}

const press = (api: AlertsApi, link: string) =>
  api.call('POST', link, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' });

void t.test('whom an alert names by mail is asked, once', async (t) => {
  const api = await alertsApi(t);
  await takeMails(api);
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${api.owner.id}`);
  const made = await api.alert({
    steps: mail(undefined, 'bob@example.com', 'BOB@example.com'),
    failover: { channel: 'email', target: 'bob@example.com', locale: 'ru' },
  });
  const waiting = (target: string) => ({ channel: 'email', config_id: null, target, reason: 'asked' });
  t.same(made.unusable_targets, [waiting('bob@example.com')], 'the answer says that it waits for its reader');
  const bob = await asked(api);
  t.same(bob.to, ['bob@example.com'], 'one letter, and none to the own address');

  const change = (body: object) => api.alerts('PATCH', `/${made.id}`, body);
  t.equal((await change({ name: 'other' })).status, 200);
  const more = await change({ steps: mail('bob@example.com', 'carol@example.com'), failover: null });
  t.match(more.body['unusable_targets'], [waiting('bob@example.com'), waiting('carol@example.com')], more.text);
  t.same((await asked(api)).to, ['carol@example.com'], 'who has a letter that works gets no other one');

  t.equal((await press(api, bob.link)).status, 200, 'the first letter still works');
  t.match((await api.read(made.id)).unusable_targets, [waiting('carol@example.com')]);
  await api.alert({ steps: mail('bob@example.com') });
  t.same((await asked(api)).to, [], 'who has agreed is not asked');

  await api.database.worker.query(sql.unsafe`
    update channel_targets set confirm_until = now() - interval '1 second' where target = 'carol@example.com'`);
  t.match((await api.read(made.id)).unusable_targets, [{ reason: 'not_asked' }]);
  await api.alert({ steps: mail('carol@example.com') });
  t.same((await asked(api)).to, ['carol@example.com'], 'a letter that is over is no answer');

  await api.database.worker.query(sql.unsafe`
    update channel_targets set unsubscribed_at = now() where target = 'bob@example.com'`);
  const ended = await api.alert({ steps: mail('bob@example.com') });
  t.match(ended.unusable_targets, [{ target: 'bob@example.com', reason: 'unsubscribed' }]);
  t.same((await asked(api)).to, [], 'who has ended it is left in peace');
});

void t.test('an alert is made also when nobody more may be asked, and says who was not', async (t) => {
  const api = await alertsApi(t);
  await takeMails(api);
  // More than the limit of two hours: one may end meanwhile.
  const addresses = Array.from({ length: 25 }, (_, n) => `reader${n}@example.com`);
  const steps = [
    ...mail(...addresses.slice(0, 20)),
    { after_seconds: 60, targets: mail(...addresses.slice(20))[0]?.targets },
  ];
  const made = await api.alert({ steps });
  const letters = await asked(api);
  const of = (reason: string) => made.unusable_targets.filter((each) => each.reason === reason);
  t.same(
    of('asked').map(({ target }) => target),
    letters.to,
    'in the order of the steps',
  );
  t.ok(letters.to.length >= 10 && letters.to.length <= 20, String(letters.to.length));
  t.equal(of('not_asked').length, 25 - letters.to.length);
});

void t.test('who changes the alert of somebody else asks nobody, and who takes one over does', async (t) => {
  const api = await alertsApi(t);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const { id } = await api.alert({ steps: mail('bob@example.com') }, { token: editor.accessToken });
  t.same((await asked(api)).to, ['bob@example.com']);
  t.equal((await api.alerts('PATCH', `/${id}`, { description: 'x' })).status, 200);
  t.same((await asked(api)).to, []);
  await api.database.worker.query(
    sql.unsafe`delete from workspace_members where user_id = ${editor.id} and workspace_id = ${api.workspaceId}`,
  );
  const taken = await api.alerts('PATCH', `/${id}`, { steps: mail('bob@example.com', 'dan@example.com') });
  t.match(taken, { status: 200, body: { disabled_reason: null } }, taken.text);
  t.same((await asked(api)).to, ['bob@example.com', 'dan@example.com'], 'a reader agrees for one account');
});
