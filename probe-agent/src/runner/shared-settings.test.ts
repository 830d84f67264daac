import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { anAssignment } from '../testing/control-plane.ts';
import { createChecker } from './checker.ts';
import { SharedSettings } from './shared-settings.ts';

const json = (settings: unknown): Buffer => Buffer.from(JSON.stringify(settings));

void t.test('monitors of one protocol with the same settings share one object', async (t) => {
  const shared = new SharedSettings();
  const first = shared.read({ protocol: 'http', settingsJson: json({ keyword: 'up' }) });
  t.same(first, { keyword: 'up' });
  t.equal(shared.read({ protocol: 'http', settingsJson: json({ keyword: 'up' }) }), first);
  t.not(shared.read({ protocol: 'http', settingsJson: json({ keyword: 'down' }) }), first);
  t.not(shared.read({ protocol: 'https', settingsJson: json({ keyword: 'up' }) }), first, 'of another protocol');
});

void t.test('no settings at all are those of a monitor that has set nothing', async (t) => {
  const shared = new SharedSettings();
  t.same(shared.read({ protocol: 'tcp', settingsJson: Buffer.alloc(0) }), {});
});

void t.test('settings with a secret are never shared and never kept', async (t) => {
  const shared = new SharedSettings();
  for (const settings of [{ password: 'hush' }, { secret_headers: { a: 'hush' } }, { client_secret: 'hush' }]) {
    const settingsJson = json(settings);
    t.not(shared.read({ protocol: 'http', settingsJson }), shared.read({ protocol: 'http', settingsJson }));
  }
  t.equal(shared.size, 0);
});

void t.test('what is no settings is given on as it is, and not kept', async (t) => {
  const shared = new SharedSettings();
  t.equal(shared.read({ protocol: 'http', settingsJson: Buffer.from('{broken') }), 'unreadable');
  t.equal(shared.read({ protocol: 'http', settingsJson: Buffer.from('7') }), 7);
  t.same(shared.read({ protocol: 'no-such', settingsJson: json({ a: 1 }) }), { a: 1 });
  t.same(shared.read({ protocol: 'http', settingsJson: json({ keyword: 'x'.repeat(2_000) }) }), {
    keyword: 'x'.repeat(2_000),
  });
  t.equal(shared.size, 0);
});

void t.test('however many different settings there are, what is kept is bounded', async (t) => {
  const shared = new SharedSettings();
  for (let number = 0; number < 2_500; number += 1)
    shared.read({ protocol: 'http', settingsJson: json({ keyword: `word ${number}` }) });
  t.ok(shared.size <= 1_000, `${shared.size} are kept`);
});

void t.test('monitors that share their settings are each checked at their own target', async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    response.end('up');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { check } = createChecker({ allowedPrivate: ['127.0.0.0/8'], sourceAddress: undefined });
  const { signal } = new AbortController();
  const settingsJson = json({ keyword: 'up' });
  const one = anAssignment({ monitorId: 1, url: `http://127.0.0.1:${port}/one`, settingsJson });
  const other = anAssignment({ monitorId: 2, url: `http://127.0.0.1:${port}/other`, settingsJson });
  const invalid = anAssignment({ monitorId: 3, url: `http://user:word@127.0.0.1:${port}/`, settingsJson });
  const outcomes = [];
  for (const each of [one, other, invalid, one, invalid, other]) outcomes.push(await check(each, { signal }));
  t.same(
    outcomes.map(({ outcome, code }) => code ?? outcome),
    ['ok', 'ok', 'target_invalid', 'ok', 'target_invalid', 'ok'],
  );
  const host = `127.0.0.1:${port}`;
  t.same(asked, [`${host} /one`, `${host} /other`, `${host} /one`, `${host} /other`]);
});
