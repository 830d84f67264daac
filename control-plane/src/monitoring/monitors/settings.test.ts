import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { composeSettings, requireTarget, sameJson, settingsInput } from './settings.ts';

const none = { settings: undefined, topLevel: {} };

const faultsOf = (work: () => unknown): string[] => {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return (error.errors ?? []).map((each) => `${each.path} ${each.code}`);
    throw error;
  }
  return [];
};

void t.test('settings are stored with their defaults and secrets apart', async (t) => {
  const made = composeSettings(
    'https',
    {},
    { settings: { username: 'ada', password: 'hidden' }, topLevel: { method: 'HEAD' } },
  );
  t.match(made.open, { method: 'HEAD', username: 'ada', verify_tls: true });
  t.same(made.secret, { password: 'hidden' });
  t.notOk(JSON.stringify(made.open).includes('hidden'));
});

void t.test('a credential header is a secret wherever it was written', async (t) => {
  const made = composeSettings(
    'https',
    {},
    { settings: undefined, topLevel: { headers: { Authorization: 'Bearer x1', Accept: '*/*' } } },
  );
  t.same(made.open['headers'], { Accept: '*/*' });
  t.same(made.secret, { secret_headers: { Authorization: 'Bearer x1' } });
});

void t.test('absent keeps, null goes back to the default, settings null clears all', async (t) => {
  const base = { method: 'POST', expected_status: [201], password: 'hidden', username: 'ada' };
  const kept = composeSettings('https', base, none);
  t.match(kept, { open: { method: 'POST', expected_status: [201] }, secret: { password: 'hidden' } });
  const cleared = composeSettings('https', base, {
    settings: { method: null, password: null },
    topLevel: { expected_status: null },
  });
  t.match(cleared.open, { method: 'GET', expected_status: ['200-399'], username: 'ada' });
  t.same(cleared.secret, {});
  t.match(composeSettings('https', base, { settings: null, topLevel: {} }), { open: { method: 'GET' }, secret: {} });
});

void t.test('what an answer says of a secret may be sent back and means nothing', async (t) => {
  const made = composeSettings(
    'https',
    { password: 'hidden' },
    { settings: { has_password: true, verify_tls: false }, topLevel: {} },
  );
  t.same(made.secret, { password: 'hidden' });
  t.equal(made.open['verify_tls'], false);
  t.notOk('has_password' in made.open);
});

void t.test('each wrong setting is named by where it was written', async (t) => {
  t.same(
    faultsOf(() => composeSettings('https', {}, { settings: { methd: 'GET' }, topLevel: {} })),
    ['/settings/methd unrecognized_keys'],
  );
  t.same(
    faultsOf(() => composeSettings('tcp', {}, { settings: {}, topLevel: { method: 'GET' } })),
    ['/method unrecognized_keys'],
  );
  t.same(
    faultsOf(() => composeSettings('https', {}, { settings: { verify_tls: 'yes' }, topLevel: {} })),
    ['/settings/verify_tls invalid_type'],
  );
  t.same(
    faultsOf(() => composeSettings('https', {}, { settings: {}, topLevel: { verify_tls: 1 } })),
    ['/verify_tls invalid_type'],
  );
  t.same(
    faultsOf(() => composeSettings('https', {}, { settings: { method: 'PUT' }, topLevel: { method: 'GET' } })),
    ['/method given_twice'],
  );
  t.same(
    faultsOf(() => composeSettings('https', {}, { settings: { method: 'PUT' }, topLevel: { method: 'PUT' } })),
    [],
    'the same in both places is said once',
  );
});

void t.test('names of the prototype chain are settings like any other', async (t) => {
  t.same(
    faultsOf(() => composeSettings('tcp', {}, { settings: { toString: 'x' }, topLevel: {} })),
    ['/settings/toString unrecognized_keys'],
  );
});

void t.test('only keys that were sent are taken from the top level', async (t) => {
  t.same(settingsInput({ method: 'GET', keyword: null, name: 'n' }), {
    settings: undefined,
    topLevel: { method: 'GET', keyword: null },
  });
});

void t.test('a target with user information, of another scheme or unparsable is refused', async (t) => {
  const settings = composeSettings('https', {}, none);
  for (const url of ['https://ada:secret@example.com', 'http://example.com', 'https://', 'ftp://example.com']) {
    t.same(
      faultsOf(() => requireTarget('https', url, settings)),
      ['/url target_invalid'],
      url,
    );
  }
  t.same(
    faultsOf(() => requireTarget('https', 'https://127.0.0.1:8443/', settings)),
    [],
    'the probe judges addresses',
  );
});

void t.test('JSON is compared without regard to the order of keys', async (t) => {
  t.ok(sameJson({ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 }));
  t.notOk(sameJson({ a: [1, 2] }, { a: [2, 1] }));
  t.notOk(sameJson({ a: 1 }, { a: 1, b: 2 }));
});
