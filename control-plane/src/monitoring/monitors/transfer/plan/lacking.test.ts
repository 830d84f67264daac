import { createMonitorSchema } from '@parallax/api-contract';
import t from 'tap';
import { issue } from '../../../../../../packages/checks/src/testing/certificates.ts';
import { newMonitorLacking } from './lacking.ts';

const limits = { plan: 'self_hosted', minimumIntervalSeconds: 1, unconfirmedIntervalSeconds: 0 };
const body = (fields: Record<string, unknown>) => createMonitorSchema.parse({ workspace_id: 1, ...fields });

void t.test('what is not valid without its secret is stored without it and paused', async (t) => {
  const client = await issue({ name: 'client' });
  const cases: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
    [{ url: 'h.example', protocol: 'radius', settings: { username: 'u' } }, ['password', 'secret']],
    [{ url: 'h.example:443', protocol: 'mtproxy', settings: { depth: 'handshake' } }, ['secret']],
    [{ url: 'h.example', protocol: 'sftp', settings: { username: 'u' } }, ['private_key', 'passphrase']],
    [{ url: 'h.example:443', protocol: 'tls', settings: { client_certificate: client.cert } }, ['client_key']],
    [{ url: 'https://h.example', settings: { token_url: 'https://t.example', client_id: 'c' } }, ['client_secret']],
    [{ url: 'https://h.example', settings: {} }, ['secret_headers']],
  ];
  for (const [fields, lacking] of cases) {
    const values = newMonitorLacking(body(fields), 'n', limits, lacking);
    t.same(values.settings.secret, {}, `${String(fields['url'])}: nothing stands in`);
    t.match(values.settings.open, fields['settings']);
    t.equal(values.is_active, false);
  }
});

void t.test('a secret that is there stays, and what is wrong beside stays wrong', async (t) => {
  const radius = { url: 'h.example', protocol: 'radius' };
  const kept = newMonitorLacking(
    body({ ...radius, settings: { username: 'u', password: 'p', secret: 's' } }),
    'n',
    limits,
    [],
  );
  t.match(kept, { is_active: true, settings: { secret: { secret: 's' } } });
  t.throws(() => newMonitorLacking(body({ ...radius, settings: { nonsense: 1 } }), 'n', limits, ['secret']), {
    name: 'Problem',
    errors: [{ path: '/settings/nonsense' }],
  });
  t.throws(
    () =>
      newMonitorLacking(
        body({ ...radius, settings: {} }),
        'n',
        { ...limits, minimumIntervalSeconds: 90, unconfirmedIntervalSeconds: 0 },
        [],
      ),
    {
      code: 'interval_below_plan',
    },
  );
});
