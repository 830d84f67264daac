import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import net from 'node:net';
import { createServer as createHttpsServer } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countMissing, needs } from '@parallax/testkit/needs';
import { lateness } from '@parallax/testkit/time-taken';
import t, { type Test } from 'tap';
import { type Browser, findBrowser, startBrowser, tryBrowser } from './pagespeed/browser.ts';
import { loadPage, type PageLoad } from './pagespeed/load.ts';
import { logIn } from './pagespeed/login.ts';
import { openProxy } from './pagespeed/proxy.ts';
import { failureOfError } from './pagespeed/verdict.ts';
import { createAddressPolicy } from './net/address-policy.ts';
import { createResolver } from './net/resolve.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext, until } from './testing/context.ts';

const browser = findBrowser();
if (browser === undefined) countMissing(t, 'chromium');

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('pagespeed', { url }, settings, testContext({ timeoutMs: 20_000, browser, ...overrides }));

async function web(t: Test, handler: RequestListener) {
  const peer = await listen(createServer(handler));
  t.teardown(peer.stop);
  return { url: `http://127.0.0.1:${peer.port}/`, ...peer };
}

/** Processes and folders of browsers that checks have started. */
function leftovers(): readonly string[] {
  const folders = readdirSync(tmpdir()).filter((each) => each.startsWith('parallax-browser-'));
  const processes = readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('parallax-browser-');
    } catch {
      return false;
    }
  });
  return [...folders, ...processes];
}

/** The text of a file of /proc; empty when its process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

void t.test('without a browser a check says what to do', async (t) => {
  t.match(await check('https://example.test/', {}, { browser: undefined }), {
    outcome: 'probe_error',
    source: 'probe',
    code: 'probe_capability',
    message: /no browser; install Chromium/,
  });
  t.match(await check('http://127.0.0.1:9/', {}, { browser: '/bin/false' }), {
    outcome: 'probe_error',
    code: 'probe_capability',
  });
  t.match(await check('http://127.0.0.1:9/', {}, { browser: '/no/such/browser' }), { code: 'probe_capability' });
  for (const url of ['file:///etc/passwd', 'chrome://version', 'http://u:p@a.test/', 'view-source:http://a.test/'])
    t.match(await check(url), { code: 'target_invalid' }, url);
  t.equal(findBrowser(['/no/such/folder']), undefined);
});

void t.test('a browser that does not start is no capability, and why is said', async (t) => {
  t.match(await tryBrowser({ path: '/no/such/browser' }), { ok: false, reason: /no such file/ });
  t.match(await tryBrowser({ path: '/bin/false' }), { ok: false, reason: /without a word/ });
  const folder = t.testdir({ speaks: '#!/bin/sh\necho "[1:2:ERROR:zygote.cc(90)] No usable sandbox!" >&2\nexit 1\n' });
  chmodSync(path.join(folder, 'speaks'), 0o755);
  t.match(await tryBrowser({ path: path.join(folder, 'speaks') }), {
    ok: false,
    reason: 'it says "No usable sandbox!"',
  });
  const silent = t.testdir({ hangs: '#!/bin/sh\nexec sleep 60\n' });
  chmodSync(path.join(silent, 'hangs'), 0o755);
  t.match(await tryBrowser({ path: path.join(silent, 'hangs') }, 200), { ok: false });
});

void t.test('a browser starts with its sandbox, under the account that is named', async (t) => {
  if (browser === undefined) return;
  t.match(await tryBrowser({ path: browser }), { ok: true, version: /Chrome\/\d+/ });
  if (!needs(t, 'root')) return;
  const account = { uid: 65_533, gid: 65_532 };
  const started = await startBrowser({ path: browser, proxyPort: 9, account });
  // Those of the sandbox have capabilities in a namespace of their own.
  const own = () =>
    leftovers().filter(
      (pid) =>
        /^\d+$/.test(pid) &&
        !textOf(`/proc/${pid}/cmdline`).includes('--type=') &&
        /^Uid:\s+65533\s+65533\s/m.test(textOf(`/proc/${pid}/status`)),
    );
  await started.send('Browser.getVersion');
  const [pid] = own();
  t.match(
    textOf(`/proc/${pid ?? 'self'}/status`),
    /^Gid:\s+65532\s+65532\s[^]*^CapEff:\s+0{16}$/m,
    'without any capability',
  );
  await started.close();
  await until(() => own().length === 0, 'nothing is left of it');
});

void t.test(
  'a page is measured: weight, requests, first byte, largest paint',
  { skip: browser === undefined },
  async (t) => {
    const agents: (string | undefined)[] = [];
    const page = await web(t, (request, response) => {
      agents.push(request.headers['user-agent']);
      if (request.url === '/big.css') response.setHeader('content-type', 'text/css').end(`/*${'x'.repeat(50_000)}*/`);
      else if (request.url === '/slow.js') setTimeout(() => response.end('document.title = 1'), 100);
      else if (request.url === '/') {
        response.setHeader('content-type', 'text/html');
        response.end(
          '<link rel=stylesheet href=big.css><h1>A large text</h1><script src=slow.js></script><img src=none.png>',
        );
      } else response.writeHead(404).end();
    });
    const found = await check(page.url, {}, { trace: () => undefined });
    t.match(found, {
      outcome: 'ok',
      phases: { connect: Number, first_byte: Number, transfer: Number },
      evidence: { status: 200, details: { denied_connections: 0, ttfb_ms: Number, load_ms: Number, lcp_ms: Number } },
    });
    const details = found.evidence?.details ?? {};
    t.ok(
      Number(details['weight_bytes']) > 50_000 && Number(details['weight_bytes']) < 60_000,
      `${details['weight_bytes']} bytes`,
    );
    t.ok(Number(details['requests']) >= 4 && Number(details['requests']) <= 5, `${details['requests']} requests`);
    t.ok(Number(details['load_ms']) >= 100, 'the script is waited for');
    t.match(agents[0], /Chrome.* Parallax-test\/1$/);
    const over = { max_weight_bytes: 1000, max_requests: 2, max_lcp_ms: 60_000 };
    t.match(await check(page.url, over), {
      outcome: 'fail',
      code: 'pagespeed_budget',
      message: /weight is 5\d{4} bytes \(at most 1000\), the number/,
    });
    t.match(await check(page.url, { ...over, over_budget: 'warn' }), { outcome: 'warn', code: 'pagespeed_budget' });
    t.match(await check(`${page.url}absent`), { outcome: 'fail', code: 'http_status' });
    await page.stop();
    t.match(await check(page.url), { outcome: 'fail', source: 'target', code: 'connect_refused' });
  },
);

void t.test('the browser reaches nothing that the policy denies', { skip: browser === undefined }, async (t) => {
  let secret = 0;
  const inside = await listenRaw((socket) => {
    secret += 1;
    socket.end();
  });
  t.teardown(inside.stop);
  const hidden = `127.0.0.2:${inside.port}`;
  const inner = await listen(
    createServer((_request, response) => response.end(String((secret += 1)))),
    '127.0.0.2',
  );
  t.teardown(inner.stop);
  const other = `127.0.0.2:${inner.port}`;
  const addresses = createAddressPolicy({ allowedPrivate: ['127.0.0.1'] });
  const resolver = createResolver({
    servers: ['127.0.0.1:9'],
    hostsPath: `${t.testdir({ hosts: '127.0.0.2 inside.test\n' })}/hosts`,
  });
  const page = await web(t, (request, response) => {
    if (request.url === '/redirect') return response.writeHead(302, { location: `http://${other}/` }).end();
    response.setHeader('content-type', 'text/html').end(
      `<img src="http://${other}/a"><img src="https://${hidden}/"><iframe src="http://inside.test:${inner.port}/"></iframe>
       <script>fetch('http://2130706434:${inner.port}/').catch(() => 0); new WebSocket('ws://${other}/');
       new RTCPeerConnection({ iceServers: [{ urls: 'stun:${hidden}' }] }).createDataChannel('a');
       window.open('http://${other}/');</script>
       <meta http-equiv="refresh" content="1;url=http://[::ffff:127.0.0.2]:${inner.port}/">`,
    );
  });
  const found = await check(page.url, {}, { addresses, resolver });
  t.match(found, { outcome: 'ok' });
  t.ok(
    Number(found.evidence?.details?.['denied_connections']) >= 4,
    `${found.evidence?.details?.['denied_connections']} were denied`,
  );
  t.match(await check(`${page.url}redirect`, {}, { addresses, resolver }), { outcome: 'fail', code: 'address_denied' });
  t.match(await check(`https://inside.test:${inner.port}/`, {}, { addresses, resolver }), { code: 'address_denied' });
  t.equal(secret, 0, 'nothing has arrived');
});

/** What a proxy answers to one request; empty when it ends the connection without a word. */
function said(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (piece) => (text += piece.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

void t.test('the proxy of a browser serves only who knows its password', async (t) => {
  let reached = 0;
  const inside = await listenRaw((socket) => {
    reached += 1;
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'));
  });
  t.teardown(inside.stop);
  const proxy = await openProxy(testContext());
  t.teardown(() => proxy.close());
  const { port, username, password } = proxy.login;
  const place = `127.0.0.1:${inside.port}`;
  const ask = (head: string, login: string | undefined) => {
    const field = login === undefined ? '' : `Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`;
    return said(port, `${head} HTTP/1.1\r\nHost: ${place}\r\n${field}Connection: close\r\n\r\n`);
  };
  for (const head of [`GET http://${place}/`, `CONNECT ${place}`, `GET http://127.0.0.1:${port}/`])
    for (const login of [undefined, '', `${username}:`, `${username}:${password}x`, `:${password}`])
      t.match(await ask(head, login), /^HTTP\/1\.1 407 [^]*proxy-authenticate: Basic/i, `${head} as ${login}`);
  t.equal(reached, 0, 'nothing has arrived');
  t.match(await ask(`GET http://${place}/`, `${username}:${password}`), /^HTTP\/1\.1 200 [^]*hi$/);
});

void t.test('no answer of a server breaks the proxy, and with it the agent', async (t) => {
  const proxy = await openProxy(testContext());
  t.teardown(() => proxy.close());
  const { port, username, password } = proxy.login;
  const login = `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`;
  for (const [answer, expected] of [
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTrailer: x\r\n\r\nhi', /^HTTP\/1\.1 200 [^]*hi$/],
    ['HTTP/1.1 001 No\r\nContent-Length: 0\r\n\r\n', /^$/],
    ['HTTP/1.1 101 No\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nx', /^$/],
    ['HTTP/1.1 204 No\r\nTrailer: x\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 204 /],
  ] as const) {
    const peer = await listenRaw((socket) => void socket.on('data', () => socket.end(answer)));
    t.teardown(peer.stop);
    const place = `127.0.0.1:${peer.port}`;
    const request = `GET http://${place}/ HTTP/1.1\r\nHost: ${place}\r\n${login}Connection: close\r\n\r\n`;
    t.match(await said(port, request), expected, JSON.stringify(answer));
  }
});

void t.test('a target with http:// is not asked over TLS instead', { skip: browser === undefined }, async (t) => {
  const page = createServer((_request, response) => response.end('<h1>Plain</h1>'));
  const steps: string[] = [];
  const isOpen = await new Promise<boolean>((resolve) => {
    page.once('error', () => resolve(false));
    page.listen(80, '127.0.0.3', () => resolve(true));
  });
  if (!isOpen) return t.comment('port 80 may not be opened here');
  t.teardown(() => {
    page.close();
    page.closeAllConnections();
  });
  const hostsPath = `${t.testdir({ hosts: '127.0.0.3 www.plain-example.com\n' })}/hosts`;
  const resolver = createResolver({ servers: ['127.0.0.1:9'], hostsPath });
  const trace = (_step: string, detail: string) => steps.push(detail);
  t.match(await check('http://www.plain-example.com/', {}, { resolver, trace }), { outcome: 'ok' });
  t.notMatch(steps.join('\n'), /:443/);
});

void t.test(
  'what a browser shows in place of a page that did not come is no page, however late it says so',
  async (t) => {
    if (browser === undefined) return;
    const peer = await listenRaw((socket) => socket.destroy());
    t.teardown(peer.stop);
    const proxy = await openProxy(testContext({ timeoutMs: 20_000 }));
    t.teardown(() => proxy.close());
    const started = await startBrowser({ path: browser, proxyPort: proxy.login.port });
    t.teardown(started.close);
    await logIn(started, proxy.login);
    const shown = Promise.withResolvers<void>();
    // That it could not go there is said only when its own page is there.
    const late = new Proxy(started, {
      get: (target, name: keyof Browser) =>
        name !== 'send'
          ? target[name]
          : async (method: string, ...rest: [object?, string?]) => {
              const answer = await target.send(method, ...rest);
              if (method === 'Page.navigate') await shown.promise;
              return answer;
            },
      set: (target, _, hear: Browser['onEvent']) => {
        target.onEvent = (event) => {
          hear(event);
          if (event.method === 'Page.loadEventFired') shown.resolve();
        };
        return true;
      },
    });
    const seen: PageLoad = {
      url: '',
      status: undefined,
      requests: 0,
      failedRequests: 0,
      weightBytes: 0,
      ttfbMs: undefined,
      domReadyMs: undefined,
      loadMs: undefined,
      lcpMs: undefined,
      error: undefined,
    };
    const url = `http://127.0.0.1:${peer.port}/`;
    await loadPage(late, { url, userAgent: 'test', viewport: 'desktop', quietMs: 0, restMs: 100 }, seen);
    t.match(seen, { error: /ERR_EMPTY_RESPONSE/, loadMs: undefined, domReadyMs: undefined });
  },
);

void t.test('what a browser says about TLS and broken servers', { skip: browser === undefined }, async (t) => {
  const leaf = await issue({ name: 'a.test', dnsNames: ['a.test'] });
  const tls = await listen(
    createHttpsServer({ cert: leaf.cert, key: leaf.key }, (_request, response) => response.end()),
  );
  t.teardown(tls.stop);
  t.match(await check(`https://127.0.0.1:${tls.port}/`), { outcome: 'fail', code: /^tls_/, source: 'target' });
  const peers: Array<[string, Parameters<typeof listenRaw>[0], RegExp]> = [
    ['closes', (socket) => socket.destroy(), /^http_closed$/],
    ['sends zeros', (socket) => socket.end(Buffer.alloc(1000)), /^http_(?:closed|protocol)$/],
  ];
  for (const [what, handler, code] of peers) {
    const peer = await listenRaw(handler);
    t.teardown(peer.stop);
    t.match(await check(`http://127.0.0.1:${peer.port}/`), { outcome: 'fail', code, source: 'target' }, what);
  }
  t.match(failureOfError('net::ERR_CERT_DATE_INVALID'), { code: 'tls_expired' });
  t.match(failureOfError('net::ERR_CERT_COMMON_NAME_INVALID'), { code: 'tls_hostname' });
  t.match(failureOfError('net::ERR_SSL_PROTOCOL_ERROR'), { code: 'tls_handshake' });
  t.match(failureOfError('net::ERR_SOMETHING'), { code: 'pagespeed_not_loaded' });
});

void t.test(
  'the deadline ends a load that does not, and nothing is left',
  { skip: browser === undefined },
  async (t) => {
    // Those of a check before may still be on their way out.
    const before = new Set(leftovers());
    const own = (): string[] => leftovers().filter((each) => !before.has(each));
    const hanging = await web(t, (request, response) => {
      if (request.url === '/') response.setHeader('content-type', 'text/html').end('<img src=never.png>');
    });
    const timeoutMs = 8000;
    const { result: found, late } = await lateness(timeoutMs, () => check(hanging.url, {}, { timeoutMs }));
    t.match(found, { outcome: 'timeout', source: 'target', code: 'pagespeed_not_loaded' });
    t.ok(late < 1000);
    const abort = new AbortController();
    const cancelled = check(hanging.url, {}, { signal: abort.signal });
    await until(() => hanging.connections.size > 0 || own().length > 0, 'the browser has started');
    abort.abort();
    t.match(await cancelled, { outcome: 'skipped', code: 'cancelled' });
    await until(() => own().length === 0, 'no process and no folder is left');
  },
);
