import { defaultAddressLists, defaultDomainLists } from '@parallax/checks';
import t from 'tap';
import { monitorsApi } from '../testing.ts';
import { dnsblCapability } from './index.ts';

const providers = '/api/v1/monitors/dnsbl-providers';

void t.test('the lists that are asked by default are answered to keys and tokens', async (t) => {
  const api = await monitorsApi(t, { more: [dnsblCapability] });
  const answer = await api.call('GET', providers, { token: api.token });
  t.same(answer.body, { address: defaultAddressLists, domain: defaultDomainLists });
  const { body } = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  t.equal((await api.call('GET', providers, { key: String(body['key']) })).status, 200);
  t.equal((await api.call('GET', providers, {})).status, 401);
});

void t.test('dnsbl_servers are the lists that the check asks; none means the default ones', async (t) => {
  const api = await monitorsApi(t, { more: [dnsblCapability] });
  const patch = (id: number, body: object) => api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body });
  const made = await api.monitor({ protocol: 'dnsbl', url: '192.0.2.1', dnsbl_servers: ['bl.test', 'xbl.test'] });
  t.match(made, { dnsbl_servers: ['bl.test', 'xbl.test'], settings: { lists: ['bl.test', 'xbl.test'] } });
  t.match((await patch(made.id, { name: 'other' })).body, {
    settings: { lists: ['bl.test', 'xbl.test'] },
    probe_revision: 1,
  });
  t.match((await patch(made.id, { settings: null })).body, { settings: { lists: ['bl.test', 'xbl.test'] } });
  t.match((await patch(made.id, { dnsbl_servers: ['new.test'] })).body, {
    dnsbl_servers: ['new.test'],
    settings: { lists: ['new.test'] },
    probe_revision: 2,
  });
  t.match(await patch(made.id, { dnsbl_servers: ['192.0.2.1'] }), {
    status: 422,
    body: { errors: [{ path: '/dnsbl_servers/0' }] },
  });
  t.match(await patch(made.id, { dnsbl_servers: ['a.test'], settings: { lists: ['b.test'] } }), {
    status: 422,
    body: { errors: [{ path: '/dnsbl_servers', code: 'given_twice' }] },
  });
  for (const none of [[], null]) {
    await patch(made.id, { dnsbl_servers: ['new.test'] });
    t.same(((await patch(made.id, { dnsbl_servers: none })).body['settings'] as { lists: string[] }).lists, []);
  }
  const web = await api.monitor({ dnsbl_servers: ['bl.test'] });
  t.notOk('lists' in (web['settings'] as object), 'other protocols have no lists');
});
