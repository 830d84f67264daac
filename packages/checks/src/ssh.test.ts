import { generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import t, { type Test } from 'tap';
import { runCheck } from './run.ts';
import { ssh } from './ssh.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';
import { startSshd } from './testing/servers/sshd.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('ssh', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));
const checkFiles = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('sftp', { url: `sftp://127.0.0.1:${port}` }, settings, testContext(overrides));

const foreign = `SHA256:${'A'.repeat(43)}`;

void t.test('OpenSSH: the handshake, keys of user and host, a wrong password, stopped', async (t) => {
  const found = await startSshd(t);
  if (found === undefined) return;
  const { port, username, hostFingerprint } = found;
  t.match(await check(port), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: {
      address: '127.0.0.1',
      port,
      details: {
        banner: /^SSH-2\.0-OpenSSH/,
        host_key_type: 'ssh-ed25519',
        host_key_fingerprint: hostFingerprint,
        cipher: String,
      },
    },
  });
  const login = { username, private_key: found.key };
  t.match(await check(port, login), { outcome: 'ok' });
  const locked = { username, private_key: found.encryptedKey };
  t.match(await check(port, { ...locked, passphrase: found.passphrase }), { outcome: 'ok' });
  t.match(await check(port, { ...locked, passphrase: 'wrong' }), { outcome: 'probe_error', source: 'probe' });
  t.match(await check(port, { ...login, host_key_fingerprints: [foreign, hostFingerprint] }), { outcome: 'ok' });
  t.match(await check(port, { ...login, host_key_fingerprints: [foreign] }), {
    outcome: 'fail',
    source: 'target',
    code: 'ssh_host_key',
    message: /ssh-ed25519 SHA256:/,
    evidence: { details: { host_key_fingerprint: hostFingerprint } },
  });
  const wrong = await check(port, { username, password: 'wrong password' });
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'ssh_login' });
  t.notMatch(JSON.stringify(wrong), /wrong password/);
  t.match(await check(port, { expected_banner: 'OpenSSH' }), { outcome: 'ok' });
  t.match(await check(port, { expected_banner: 'Dropbear' }), { outcome: 'fail', code: 'response_mismatch' });

  t.match(await checkFiles(port), { outcome: 'ok' });
  t.match(await checkFiles(port, login), { outcome: 'ok' });
  t.match(await checkFiles(port, { ...login, path: found.folder }), {
    outcome: 'ok',
    evidence: { details: { path_type: 'directory' } },
  });
  t.match(await checkFiles(port, { ...login, path: `${found.folder}/sshd_config` }), {
    outcome: 'ok',
    evidence: { details: { path_type: 'file', path_bytes: Number } },
  });
  t.match(await checkFiles(port, { ...login, path: `${found.folder}/missing` }), {
    outcome: 'fail',
    code: 'sftp_path',
  });
  t.match(await checkFiles(port, { username, password: 'wrong password' }), { code: 'ssh_login' });
  await found.stop();
  t.match(await check(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
  t.match(await checkFiles(port), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

/** A server of the library, with every login that was tried. */
async function peer(t: Test, accept: (login: ssh2.AuthContext) => void, options: Partial<ssh2.ServerConfig> = {}) {
  const tried: string[] = [];
  const server = new ssh2.Server({ hostKeys: [privateKey], ...options }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (login) => {
      tried.push(login.method);
      accept(login);
    });
    client.on('ready', () => client.on('session', (open) => void open()));
  });
  const found = await listen(server);
  t.teardown(found.stop);
  return { ...found, tried };
}

void t.test('a password is told to the method that takes it, and to no foreign host', async (t) => {
  const plain = await peer(t, (login) =>
    login.method === 'password' && login.password === 'correct horse' ? login.accept() : login.reject(['password']),
  );
  const login = { username: 'probe', password: 'correct horse' };
  t.match(await check(plain.port, login), { outcome: 'ok' });
  const before = plain.tried.length;
  t.match(await check(plain.port, { ...login, host_key_fingerprints: [foreign] }), { code: 'ssh_host_key' });
  t.equal(plain.tried.length, before, 'nothing was tried');
  const asking = await peer(t, (login) => {
    if (login.method !== 'keyboard-interactive') return login.reject(['keyboard-interactive']);
    login.prompt([{ prompt: 'Password:', echo: false }], (answers) =>
      answers[0] === 'correct horse' ? login.accept() : login.reject(),
    );
  });
  t.match(await check(asking.port, login), { outcome: 'ok' });
  t.match(await check(asking.port, { ...login, password: 'other' }), { code: 'ssh_login' });
  t.match(await checkFiles(plain.port, login), { code: 'sftp_unavailable' }, 'a server without the subsystem');
  await until(() => plain.connections.size === 0 && asking.connections.size === 0, 'all connections are closed');
});

void t.test('no common algorithm, no answer to the login, and what is no SSH', async (t) => {
  const old = await peer(t, (login) => login.accept(), {
    algorithms: { kex: ['diffie-hellman-group1-sha1'] },
  });
  t.match(await check(old.port), { outcome: 'ok', evidence: { details: { key_exchange: /group1-sha1/ } } });
  const before = old.tried.length;
  t.match(await check(old.port, { username: 'a', password: 'b' }), {
    outcome: 'fail',
    code: 'ssh_handshake',
    message: /no safe algorithm in common/,
  });
  t.equal(old.tried.length, before, 'no password goes through an old algorithm');
  const silent = await peer(t, () => undefined);
  t.match(await check(silent.port, { username: 'a', password: 'b' }, { timeoutMs: 500 }), {
    outcome: 'timeout',
    code: 'response_timeout',
    message: /an answer to the login/,
  });
  const cases: [string, object][] = [
    ['HTTP/1.1 200 OK\r\n\r\n', { outcome: 'timeout', code: 'response_timeout' }],
    ['SSH-1.5-old\r\n', { outcome: 'fail', code: 'ssh_protocol' }],
    ['SSH-2.0-x\r\n', { outcome: 'timeout', code: 'response_timeout', message: /key exchange/ }],
    [`SSH-2.0-x\r\n${'\xff'.repeat(100)}`, { outcome: 'fail' }],
  ];
  for (const [said, expected] of cases) {
    const raw = await listenRaw((socket) => socket.resume().write(said, 'latin1'));
    t.teardown(raw.stop);
    t.match(await check(raw.port, {}, { timeoutMs: 200 }), expected, said.slice(0, 20));
    await until(() => raw.connections.size === 0, 'the connection is closed');
  }
});

void t.test('a server that is too busy for a greeting is quoted', async (t) => {
  const busy = await listenRaw((socket) => socket.end('Exceeded MaxStartups\r\n'));
  t.teardown(busy.stop);
  t.match(await check(busy.port), { code: 'connect_reset', message: /It said "Exceeded MaxStartups"/ });
});

void t.test('a path whose size and kind the server keeps to itself is there', async (t) => {
  const server = new ssh2.Server({ hostKeys: [privateKey] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (login) => login.accept());
    client.on('session', (open) =>
      open().on('sftp', (answer) => {
        const files = answer();
        files.on('STAT', (id) => files.attrs(id, {} as ssh2.Attributes));
      }),
    );
  });
  const found = await listen(server);
  t.teardown(found.stop);
  const outcome = await checkFiles(found.port, { username: 'a', password: 'b', path: '/in' });
  t.match(outcome, { outcome: 'ok' });
  const details = outcome.evidence?.details ?? {};
  t.notOk('path_bytes' in details || 'path_type' in details, 'nothing is made up');
  await until(() => found.connections.size === 0, 'the connection is closed');
});

void t.test('settings and targets are bounded', async (t) => {
  t.match(await check(25), { code: 'address_denied' });
  for (const url of ['http://a', 'ssh://u@a', 'a:0'])
    t.type(ssh.validateTarget({ url }, ssh.settings().parse({})), 'string', url);
  for (const url of ['a', 'ssh://a:2222', '[::1]:22'])
    t.equal(ssh.validateTarget({ url }, ssh.settings().parse({})), undefined, url);
  for (const settings of [
    { username: 'a' },
    { password: 'a' },
    { passphrase: 'a' },
    { username: 'a', private_key: 'no key' },
    { host_key_fingerprints: ['MD5:aa'] },
  ])
    t.equal(ssh.settings().safeParse(settings).success, false, JSON.stringify(settings));
});
