import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import t from 'tap';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import { eventually, freePorts, startNode } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { apiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { signedIn, startProduct } from '../harness/product.ts';
import type { Product } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type JoinToken = { id: number; token: string };
type Ran = { readonly code: number; readonly out: string; readonly errors: string };

const localTargets = { PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128' };
const publicAddress = '198.51.100.7';
const revokedWithinMs = 5_000;

/** Runs the agent's program to its end. */
async function agent(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const started = startNode(['probe-agent/src/main.ts', ...args], { ...localTargets, ...env });
  const code = await started.ended;
  const errors = started.errors();
  return { code, errors, out: started.output().replace(errors, '') };
}

const newToken = (api: ApiClient, name: string) =>
  api.call<JoinToken>('POST', '/api/v1/probes/join-tokens', 201, { name, region: 'here', expires_in_minutes: 5 });

/** Moves the end of a token into the past. */
async function expire(product: Product, tokenId: number): Promise<void> {
  const client = new pg.Client(readRunning(product.dataDir)?.database_urls?.owner);
  await client.connect();
  try {
    const { rowCount } = await client.query(
      `update join_tokens set expires_at = now() - interval '1 second' where id = $1`,
      [tokenId],
    );
    if (rowCount !== 1) throw new Error(`there is no join token ${tokenId}`);
  } finally {
    await client.end();
  }
}

t.test('the command line of the agent', { timeout: 180_000 }, async (t) => {
  const target = await startTarget();
  const product = await startProduct();
  t.teardown(async () => {
    await product.stop();
    await target.close();
  });
  const { api } = await signedIn(product.baseUrl);
  const register = (token: string, stateDir: string, address = product.enrolmentAddress) =>
    agent(['register', '--control-plane', address, '--state-dir', stateDir], { PARALLAX_PROBE_JOIN_TOKEN: token });
  const stateDir = path.join(product.dataDir, 'agent-cli');

  await t.test('every command shows an example in its help', async (t) => {
    await Promise.all(
      ['register', 'run', 'status', 'doctor', 'check'].map(async (command) => {
        const { code, out } = await agent([command, '--help']);
        t.equal(code, 0);
        t.match(out, new RegExp(`Example:\\n  probe-agent ${command} `));
      }),
    );
  });

  await t.test(
    'a token that does not fit is refused in one line, and a good one works in the same folder afterwards',
    async (t) => {
      const used = await newToken(api, 'used');
      t.equal((await register(used.token, path.join(product.dataDir, 'agent-used'))).code, 0);
      const expired = await newToken(api, 'expired');
      await expire(product, expired.id);
      const good = await newToken(api, 'cli');
      const [port = 0] = await freePorts(1);
      const elsewhere = good.token.replace(/[0-9a-f]{64}$/, '0123456789abcdef'.repeat(4));
      const otherSecret = good.token.replace(/^(\d+)\.[^.]+/, `$1.${'A'.repeat(43)}`);
      const cases: readonly [string, string, RegExp, string?][] = [
        ['used', used.token, /used already/],
        ['expired', expired.token, /expired/],
        ['of another installation', elsewhere, /another authority than the join token names.*Nothing was sent/],
        ['with a wrong secret', otherSecret, /not known here/],
        ['garbage', 'rubbish', /three parts/],
        ['cut off', good.token.slice(0, -5), /not a SHA-256 fingerprint/],
        ['at an address where nobody listens', good.token, /cannot be reached/, `127.0.0.1:${port}`],
        [
          'at an address that speaks something else',
          good.token,
          /does not speak TLS/,
          `127.0.0.1:${product.ports.http}`,
        ],
      ];
      for (const [name, token, message, address] of cases) {
        const ran = await register(token, stateDir, address);
        t.equal(ran.code, 1, `${name}: exit code 1`);
        t.match(ran.errors, message, `${name}: says what is wrong`);
        t.match(ran.errors, /^probe-agent: [^\n]+\n$/, `${name}: in one line`);
        t.notMatch(ran.errors, token.split('.')[1] ?? token, `${name}: without the secret`);
        t.equal(ran.out, '');
      }
      const ran = await register(good.token, stateDir);
      t.match(ran, { code: 0, out: /registered as probe \d+ "cli" in region "here"/, errors: '' });
      t.match(await register(good.token, stateDir), { code: 1, errors: /belongs to the probe "cli" already/ });
    },
  );

  await t.test('status before the agent runs', async (t) => {
    t.match(await agent(['status', '--state-dir', path.join(product.dataDir, 'nothing')]), {
      code: 1,
      out: /no registered probe/,
    });
    t.match(await agent(['status', '--state-dir', stateDir]), { code: 1, out: /running: false/ });
  });

  await t.test('doctor says what this machine lacks', async (t) => {
    const { code, out } = await agent(['doctor', '--state-dir', stateDir, '--json']);
    const { ok, findings } = JSON.parse(out) as {
      ok: boolean;
      findings: { name: string; level: string; remedy: string }[];
    };
    t.equal(code, ok ? 0 : 1);
    t.match(
      findings.find((finding) => finding.name === 'registration'),
      { level: 'ok', detail: /"cli"/ },
    );
    t.match(
      findings.find((finding) => finding.name === 'session'),
      { level: 'warn', detail: /no agent runs.*can be reached/ },
    );
    t.ok(
      findings.every(({ level, remedy }) => level === 'ok' || remedy !== ''),
      'with a remedy for each',
    );
    t.match((await agent(['doctor', '--state-dir', stateDir])).out, /^ok +registration +probe \d+ "cli"$/m);
  });

  await t.test('run registers by itself when its token is there, and needs it no more afterwards', async (t) => {
    const ownState = path.join(product.dataDir, 'agent-by-itself');
    const tokenFile = path.join(product.dataDir, 'late-token');
    const settings = {
      ...localTargets,
      PARALLAX_PROBE_CONTROL_PLANE: product.enrolmentAddress,
      PARALLAX_PROBE_JOIN_TOKEN_FILE: tokenFile,
      PARALLAX_PROBE_STATE_DIR: ownState,
    };
    const run = () => {
      const started = startNode(['probe-agent/src/main.ts', 'run'], settings);
      t.teardown(() => started.stop());
      return started;
    };
    const untilItRuns = ({ output }: Started) =>
      eventually('the agent runs', async () => output().includes('the probe agent runs'));

    const first = run();
    await eventually('it waits for the token', async () => first.output().includes('not registered yet'));
    t.match(await agent(['status'], settings), { code: 1, out: /no registered probe/, errors: '' });
    const { token } = await newToken(api, 'by-itself');
    writeFileSync(tokenFile, `${token}\n`);
    await untilItRuns(first);
    t.match((await agent(['status'], settings)).out, /name: by-itself/);
    t.equal(await first.stop(), 0);

    rmSync(tokenFile);
    const second = run();
    await untilItRuns(second);
    t.equal(await second.stop(), 0);

    writeFileSync(tokenFile, token);
    const refused = await agent(['run'], { ...settings, PARALLAX_PROBE_STATE_DIR: `${ownState}-2` });
    t.match(refused, { code: 1, errors: /^probe-agent: .*used already.*\n$/ }, 'a used token is not tried again');
  });

  await t.test('check shows the steps of one check, for a person and as JSON', async (t) => {
    const forPeople = await agent(['check', target.url]);
    t.match(forPeople, {
      code: 0,
      out: /dns: localhost is 127\.0\.0\.1.*connect: .*answer: 200.*ok in [\d.]+ ms\n$/s,
      errors: '',
    });
    const { code, out } = await agent(['check', target.url, '--json']);
    t.equal(code, 0);
    t.match(JSON.parse(out), {
      outcome: 'ok',
      phases: { dns: Number, connect: Number, first_byte: Number },
      trace: Array,
    });
    const [port = 0] = await freePorts(1);
    t.match(await agent(['check', `http://localhost:${port}`]), { code: 1, out: /fail in .* refused the connection/ });
    t.match(await agent(['check', target.url, '--timeout', 'long']), {
      code: 2,
      errors: /^probe-agent: --timeout.*\n$/,
    });
  });

  await t.test('a running agent says so, its public address is listed, and a revocation cuts it off', async (t) => {
    const running = startNode(
      ['probe-agent/src/main.ts', 'run', '--state-dir', stateDir, '--public-address', publicAddress],
      localTargets,
    );
    t.teardown(() => running.stop());
    const status = await eventually('the agent connected', async () => {
      const ran = await agent(['status', '--state-dir', stateDir, '--json']);
      return ran.code === 0 && (JSON.parse(ran.out) as Record<string, unknown>);
    });
    t.match(status, { registered: true, running: true, name: 'cli', session_connected: true, pid: running.pid });
    t.match(await agent(['status', '--state-dir', stateDir]), { code: 0, out: /session connected: true/ });
    const nobody = apiClient(product.baseUrl);
    for (const route of ['/probe/ips', '/api/v1/probe/ips']) {
      t.ok((await nobody.call<{ addresses: string[] }>('GET', route, 200)).addresses.includes(publicAddress), route);
    }

    const revokedMs = performance.now();
    await api.call('DELETE', `/api/v1/probes/${String(status['probe_id'])}`, 204);
    await eventually(
      'the agent says that it was refused',
      async () => running.output().includes('refused this probe'),
      {
        timeoutMs: revokedWithinMs,
      },
    );
    t.ok(performance.now() - revokedMs < revokedWithinMs, `after ${Math.round(performance.now() - revokedMs)} ms`);
    t.match(running.output(), /register it again with a new join token/);
    t.match(await agent(['status', '--state-dir', stateDir]), { code: 1, out: /session connected: false/ });
    const { addresses } = await nobody.call<{ addresses: string[] }>('GET', '/probe/ips', 200);
    t.notOk(addresses.includes(publicAddress), 'its address is listed no more');
    const { probes } = await api.call<{ probes: { name: string }[] }>('GET', '/api/v1/probes', 200);
    t.same(
      probes.map(({ name }) => name),
      ['by-itself', 'used'],
      'the revoked probe is listed no more',
    );
  });
});
