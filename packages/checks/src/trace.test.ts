import { findProgram } from '@parallax/settings/programs';
import { countMissing } from '@parallax/testkit/needs';
import t from 'tap';
import { type Protocol, protocols, secretFieldsOf, settingsSchema } from './registry.ts';
import { runCheck } from './run.ts';
import { guardedTrace } from './run/trace.ts';
import { testContext } from './testing/context.ts';
import { openPeer } from './testing/hostile-peers.ts';
import { pointedAt } from './testing/pointed-at.ts';
import { site } from './testing/site.ts';

type Step = { readonly step: string; readonly detail: string };

async function traced(protocol: Protocol, url: string, settings: object, timeoutMs = 700) {
  const steps: Step[] = [];
  const trace = (step: string, detail: string) => void steps.push({ step, detail });
  const outcome = await runCheck(protocol, { url }, settings, testContext({ timeoutMs, trace }));
  return { outcome, steps, names: steps.map(({ step }) => step) };
}

/** Types whose server speaks first, so that there is nothing to tell of a peer that does not. */
const waiting = new Set<Protocol>(['mysql', 'smtp', 'imap', 'pop3', 'ftp', 'ftps', 'ssh', 'sftp', 'nats']);
/** Types that speak inside TLS only. */
const secure = new Set<Protocol>(['https', 'ssl', 'tls', 'wss']);
type Spoken = { readonly step: string; readonly programs: readonly [string, ...string[]] };
const pings: Spoken = { step: 'ping', programs: ['fping', 'ping'] };
/** Types that another program speaks for, which says what it found; any of the programs will do. */
const byProgram: Partial<Record<Protocol, Spoken>> = {
  icmp: pings,
  ping: pings,
  traceroute: { step: 'traceroute', programs: ['traceroute'] },
};

for (const protocol of protocols) {
  // A browser takes longer to start than this; it is told of in the test of its type.
  if (protocol === 'pagespeed') continue;
  void t.test(`the trace of ${protocol} tells its steps, without a secret`, async (t) => {
    const peer = await openPeer(
      (socket) => socket.on('data', (heard) => socket.write(Buffer.concat([heard, Buffer.from('\r\n\x1b[31m\0')]))),
      (heard) => heard,
    );
    t.teardown(peer.stop);
    const { url, settings } = pointedAt[protocol](peer.port);
    const secrets = Object.fromEntries(secretFieldsOf(protocol).map((name) => [name, 'Marked-secret-0123456789']));
    const read = settingsSchema(protocol).safeParse({ ...settings, ...secrets });
    const { steps, names, outcome } = await traced(
      protocol,
      url,
      read.success ? { ...settings, ...secrets } : settings,
    );
    t.equal(names[0], 'dns', 'what the name stands for comes first');
    t.equal(names.at(-1), 'verdict', 'and the verdict last');
    t.equal(names.filter((name) => name === 'verdict').length, 1);
    t.match(steps.at(-1)?.detail, outcome.code ?? outcome.outcome);
    const between = names.slice(1, -1).filter((name) => name !== 'dns');
    const [first, ...rest] = between;
    const program = byProgram[protocol];
    if (program !== undefined) {
      const isThere = program.programs.some((name) => findProgram(name) !== undefined);
      if (!isThere) countMissing(t, program.programs[0]);
      t.same(between, isThere ? [program.step] : []);
    } else {
      t.ok(first !== undefined && ['connect', 'send', 'udp'].includes(first), `it was reached: ${names.join()}`);
      const spoke = secure.has(protocol) ? rest.includes('tls') : waiting.has(protocol) || between.length > 1;
      t.ok(spoke, `what was said is told: ${names.join()}`);
    }
    for (const { step, detail } of steps) {
      t.match(step, /^[a-z_]{2,20}$/);
      t.ok(detail.length > 0 && detail.length <= 1000, `${step}: ${detail.length} characters`);
      t.notMatch(detail, /[\p{Cc}\p{Cf}]/u, `${step} is one line`);
    }
    t.notMatch(JSON.stringify(steps), 'Marked-secret');
  });
}

void t.test('a good run is told to its end, with what all types share', async (t) => {
  const { url } = await site(t, (request, response) => {
    if (request.url === '/start') response.writeHead(302, { location: '/end?a=Marked-secret-0123456789' }).end();
    else response.end('hello');
  });
  const assertions = { all: [{ subject: 'status', comparison: 'equals', value: 200 }] };
  const settings = { bearer_token: 'Marked-secret-0123456789', assertions, detect_stub_pages: true };
  const { names, steps } = await traced('http', url('/start'), settings, 2000);
  const hop = ['dns', 'connect', 'request', 'answer'];
  t.same(names, [...hop, 'redirect', ...hop, 'page', 'assertions', 'verdict']);
  t.match(steps.at(-2), { detail: 'all hold' });
  t.match(steps.at(-1), { detail: /^ok after \d+\.\d ms$/ });
  t.notMatch(JSON.stringify(steps), 'Marked-secret');

  const breached = { assertions: { subject: 'status', comparison: 'equals', value: 204, severity: 'warn' } };
  const warned = await traced('http', url('/end'), breached, 2000);
  t.match(warned.steps.at(-2), { step: 'assertions', detail: /204/ });
  t.match(warned.steps.at(-1), { step: 'verdict', detail: /^warn \(assertion_failed\)/ });
  const inverted = await traced('http', url('/end'), { inverted: true }, 2000);
  t.match(inverted.steps.slice(-2), [
    { step: 'inverted', detail: /ok/ },
    { step: 'verdict', detail: /inverted_answer/ },
  ]);
  const notAsked = await traced('http', url('/end'), { ...breached, expected_status: [500] }, 2000);
  t.match(notAsked.steps.at(-2), { step: 'assertions', detail: /not asked/ });
});

void t.test('a second hop is told of too, and the token that came of it is not', async (t) => {
  const { url } = await site(t, (request, response) => {
    if (request.url === '/token') response.end('{"access_token":"Obtained-token-0123456789","token_type":"bearer"}');
    else if (request.url === '/start') response.writeHead(307, { location: '/Obtained-token-0123456789' }).end();
    else response.end(request.headers.authorization);
  });
  const settings = { token_url: url('/token'), client_id: 'me', client_secret: 'Marked-secret-0123456789' };
  const { steps, names, outcome } = await traced('http', url('/start'), settings, 2000);
  t.equal(outcome.outcome, 'ok');
  const hop = ['dns', 'connect', 'request', 'answer'];
  t.same(names, ['token', ...hop, ...hop, 'redirect', ...hop, 'verdict']);
  t.match(steps[3], { detail: 'POST /token' });
  t.notMatch(JSON.stringify(steps), /Obtained-token|Marked-secret/);
});

void t.test('whatever a type hands over, no secret of the monitor is shown', async (t) => {
  const shown: string[] = [];
  const settings = { username: 'ada', password: 'Marked-secret', secret_headers: { 'x-key': 'Marked-header' } };
  const trace = guardedTrace((_step, detail) => void shown.push(detail), settings, ['password', 'secret_headers']);
  trace('send', `PASS Marked-secret\r\nX-Key: Marked-header\x1b[0m ${Buffer.from('Marked-secret').toString('base64')}`);
  trace('send', `${'x'.repeat(2000)} Marked-secret`);
  t.notMatch(shown.join(' '), /Marked|TWFya2VkLXNlY3JldA/);
  t.match(shown[0], /^PASS \[redacted\] X-Key: \[redacted\]/, 'on one line');
  t.equal(shown[1]?.length, 1000);
});
