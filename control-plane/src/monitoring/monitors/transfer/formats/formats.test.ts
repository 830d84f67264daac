import { readFileSync } from 'node:fs';
import t from 'tap';
import { readFile } from './read-file.ts';

/*
 * Files as the tools write them, after their documentation:
 * UptimeRobot, "Bulk upload" and the parameters of `getMonitors` (uptimerobot.com/api); Better Stack, "Monitors API" (betterstack.com/docs/uptime/api);
 * StatusCake, "Uptime" of its API v1 (developers.statuscake.com); Pingdom, `/checks` of its API 3.1 (docs.pingdom.com/api);
 * Uptime Kuma, "Backup" of the settings in 1.x and `server/model/monitor.js`.
 */
const fixture = (name: string) => readFile(readFileSync(new URL(`../fixtures/${name}`, import.meta.url)));
const csv = (...lines: readonly string[]) => readFile(Buffer.from(`${lines.join('\n')}\n`));
const bodies = (file: ReturnType<typeof readFile>) =>
  file.rows.map((row) => (row.kind === 'monitor' ? row.body : { kind: row.kind, code: row.code, name: row.name }));

void t.test('UptimeRobot, older form', async (t) => {
  const file = fixture('uptime-robot-dashboard.csv');
  t.equal(file.format, 'uptime_robot');
  t.same(bodies(file), [
    { name: 'Shop', url: 'https://shop.example/', protocol: 'https', interval_seconds: 300 },
    {
      name: 'Shop, cart',
      url: 'https://shop.example/cart',
      protocol: 'https',
      keyword: 'Checkout',
      interval_seconds: 300,
    },
    {
      name: 'No errors',
      url: 'https://shop.example/errors',
      protocol: 'https',
      keyword_absent: 'Exception',
      interval_seconds: 600,
      is_active: false,
    },
    { name: 'Router', url: 'router.example', protocol: 'ping', interval_seconds: 300 },
    { name: 'Mail', url: 'mail.example:25', protocol: 'tcp', interval_seconds: 300 },
    { name: 'Game', url: 'game.example:27015', protocol: 'tcp', interval_seconds: 300 },
    { kind: 'skipped', code: 'not_translatable', name: 'Backup job' },
  ]);
  t.match(file.rows[3], { warnings: [/router\.example/] });
});

void t.test('UptimeRobot, with the names of its API', async (t) => {
  t.same(bodies(fixture('uptime-robot-api.csv')), [
    {
      name: 'Shop',
      url: 'https://shop.example/',
      protocol: 'https',
      interval_seconds: 300,
      timeout_seconds: 30,
      settings: { username: 'watcher', password: 's3cret!' },
    },
    { name: 'Old habit', url: 'https://old.example/', protocol: 'https', interval_seconds: 300 },
    { name: 'IMAP', url: 'imap.example:143', protocol: 'tcp', interval_seconds: 60 },
    { name: 'SSH', url: 'ssh.example:22', protocol: 'tcp', interval_seconds: 60 },
  ]);
});

void t.test('Better Stack', async (t) => {
  const file = fixture('better-stack.csv');
  t.equal(file.format, 'better_stack');
  const web = { method: 'GET', verify_tls: true, follow_redirects: true };
  t.match(file.rows[0], { warnings: [/[Rr]egions/] });
  t.same(bodies(file), [
    {
      name: 'Home',
      url: 'https://home.example',
      protocol: 'https',
      interval_seconds: 180,
      timeout_seconds: 30,
      ...web,
    },
    {
      name: 'Moved',
      url: 'https://moved.example',
      protocol: 'https',
      interval_seconds: 30,
      timeout_seconds: 15,
      expected_status: [301, 308],
      method: 'HEAD',
      verify_tls: true,
      follow_redirects: false,
    },
    {
      name: 'Login',
      url: 'https://login.example',
      protocol: 'https',
      interval_seconds: 60,
      timeout_seconds: 15,
      keyword: 'Sign in',
      is_active: false,
      ...web,
      verify_tls: false,
    },
    {
      name: 'Clean',
      url: 'https://clean.example',
      protocol: 'https',
      interval_seconds: 60,
      timeout_seconds: 15,
      keyword_absent: 'Fatal error',
      ...web,
    },
    { name: 'Edge', url: 'edge.example', protocol: 'ping', interval_seconds: 60, timeout_seconds: 5 },
    { name: 'Database', url: 'db.example:5432', protocol: 'tcp', interval_seconds: 60, timeout_seconds: 5 },
    { name: 'Post', url: 'mail.example:25', protocol: 'smtp', interval_seconds: 60, timeout_seconds: 5 },
    { kind: 'skipped', code: 'not_translatable', name: 'Browser' },
  ]);
});

void t.test('StatusCake', async (t) => {
  const file = fixture('statuscake.csv');
  t.equal(file.format, 'statuscake');
  t.same(bodies(file), [
    {
      name: 'Home',
      url: 'https://home.example',
      protocol: 'https',
      keyword: 'Welcome',
      interval_seconds: 300,
      confirmations: 2,
      tags: ['web', 'production'],
    },
    {
      name: 'Clean',
      url: 'https://clean.example',
      protocol: 'https',
      keyword_absent: 'Fatal error',
      interval_seconds: 60,
      confirmations: 5,
      is_active: false,
    },
    {
      name: 'Only head',
      url: 'https://head.example',
      protocol: 'https',
      interval_seconds: 60,
      confirmations: 1,
      method: 'HEAD',
    },
    { name: 'Edge', url: 'edge.example', protocol: 'ping', interval_seconds: 60, confirmations: 3 },
    { kind: 'skipped', code: 'not_translatable', name: 'Nightly' },
  ]);
});

void t.test('Pingdom, with semicolons', async (t) => {
  const file = fixture('pingdom.csv');
  t.equal(file.format, 'pingdom');
  t.same(bodies(file), [
    {
      name: 'Shop',
      url: 'https://shop.example/cart?step=1',
      protocol: 'https',
      keyword: 'Checkout',
      interval_seconds: 60,
    },
    {
      name: 'Old shop',
      url: 'http://old.example:8080/',
      protocol: 'http',
      keyword_absent: 'Error; please retry',
      interval_seconds: 300,
    },
    { name: 'Edge', url: 'edge.example', protocol: 'ping', interval_seconds: 60 },
    { name: 'Database', url: 'db.example:5432', protocol: 'tcp', interval_seconds: 60 },
    { kind: 'skipped', code: 'not_translatable', name: 'Wizard' },
  ]);
});

void t.test('proxies of Uptime Kuma', async (t) => {
  const monitor = { type: 'http', url: 'https://a.example', name: 'A', proxyId: 1 };
  const read = (proxy: object | undefined) => {
    const backup = {
      monitorList: [monitor],
      ...(proxy && { proxyList: [{ id: 1, host: 'p.test', port: 3128, ...proxy }] }),
    };
    return readFile(Buffer.from(JSON.stringify(backup))).rows[0];
  };
  t.match(read({ protocol: 'http', auth: 0, username: 'u' }), { body: { settings: { proxy: 'http://p.test:3128' } } });
  t.match(read({ protocol: 'https', host: '::1' }), { body: { settings: { proxy: 'https://[::1]:3128' } } });
  const off = read({ protocol: 'http', active: false });
  t.match(off, { kind: 'monitor', warnings: [] });
  t.notMatch(off, { body: { settings: { proxy: String } } }, 'one that is switched off is gone around there');
  t.match(read({ protocol: 'socks4' }), { warnings: [/socks4/] });
  t.match(read(undefined), { warnings: [/its proxy is left out/] });
});

void t.test('Uptime Kuma 1.x', async (t) => {
  const file = fixture('uptime-kuma.json');
  t.equal(file.format, 'uptime_kuma');
  t.same(bodies(file), [
    {
      name: 'Home',
      url: 'https://home.example',
      protocol: 'https',
      method: 'GET',
      expected_status: ['200-299', 418],
      interval_seconds: 60,
      timeout_seconds: 48,
      confirmations: 3,
      is_active: true,
      tags: ['prod'],
      settings: {
        secret_headers: { 'x-api-key': 'k-123456' },
        username: 'watcher',
        password: 's3cret!',
        proxy: 'socks5://relay@proxy.example:1080',
        proxy_password: 'pr0xy!',
      },
    },
    {
      name: 'Clean',
      url: 'https://clean.example',
      protocol: 'https',
      method: 'GET',
      verify_tls: false,
      follow_redirects: false,
      keyword_absent: 'Fatal error',
      interval_seconds: 20,
      confirmations: 1,
      is_active: false,
      settings: {},
    },
    { name: 'Database', url: 'db.example:5432', protocol: 'tcp', interval_seconds: 60, is_active: true, settings: {} },
    {
      name: 'Must not answer',
      url: 'old.example',
      protocol: 'ping',
      interval_seconds: 60,
      is_active: true,
      settings: { inverted: true },
    },
    {
      name: 'Records',
      url: 'example.com',
      protocol: 'dns',
      interval_seconds: 120,
      is_active: true,
      settings: { server: '1.1.1.1', record_type: 'MX' },
    },
    { kind: 'skipped', code: 'not_translatable', name: 'Backup job' },
    { kind: 'skipped', code: 'not_translatable', name: 'Container' },
  ]);
});

void t.test('a list with the names that people use', async (t) => {
  const file = csv(
    'Website Name,Target,Check Interval,Type,Keyword,Tags',
    'Home,home.example,5,,,',
    'Old,old.example,90s,http,,',
    'Ping,https://ping.example/a,1m,3,,"a, b"',
    'Clean,https://clean.example,1 hour,keyword_absence,Fatal,',
    'Port,tcp://db.example:5432,60,4,,',
  );
  t.equal(file.format, 'generic');
  t.same(bodies(file), [
    { name: 'Home', url: 'https://home.example', protocol: 'https', interval_seconds: 300 },
    { name: 'Old', url: 'http://old.example', protocol: 'http', interval_seconds: 90 },
    { name: 'Ping', url: 'ping.example', protocol: 'ping', interval_seconds: 60, tags: ['a', 'b'] },
    {
      name: 'Clean',
      url: 'https://clean.example',
      protocol: 'https',
      interval_seconds: 3_600,
      keyword_absent: 'Fatal',
    },
    { name: 'Port', url: 'db.example:5432', protocol: 'tcp', interval_seconds: 60 },
  ]);
  for (const name of ['url', 'URL', 'Target', 'address', 'Website', 'hostname']) {
    t.same(bodies(csv(name, 'https://a.example')), [{ url: 'https://a.example', protocol: 'https' }], name);
  }
});

void t.test('a column workspace says where a row of any tool goes', async (t) => {
  const heads = [
    'friendly_name,url',
    'pronounceable_name,url',
    'name,website_url',
    'name,url',
    'name,url,interval_seconds',
  ];
  for (const head of heads) {
    t.match(csv(`workspace,${head}`, 'Team,a,https://a.example').rows, [{ kind: 'monitor', workspace: 'Team' }], head);
  }
});

void t.test('byte order mark, line ends, empty lines and quoted delimiters', async (t) => {
  const wanted = [
    { name: 'a;b,c', url: 'https://a.example', protocol: 'https' },
    { name: 'b', url: 'https://b.example', protocol: 'https' },
  ];
  for (const [what, delimiter, end] of [
    ['comma', ',', '\n'],
    ['semicolon and CRLF', ';', '\r\n'],
    ['tab and CR', '\t', '\r'],
  ] as const) {
    const lines = [
      ['"na,m;e"', 'name', 'url'],
      ['', '"a;b,c"', 'https://a.example'],
      ['', '', ''],
      ['x', 'b', 'https://b.example'],
    ];
    const text = `${lines.map((line) => line.join(delimiter)).join(end)}${end}${end}`;
    t.same(bodies(readFile(Buffer.from(text))), wanted, what);
    t.same(bodies(readFile(Buffer.from(`\ufeff${text}`))), wanted, `${what} with a byte order mark`);
  }
  t.same(bodies(csv('sep=;', 'name;url', 'a;https://a.example')), [
    { name: 'a', url: 'https://a.example', protocol: 'https' },
  ]);
  t.same(bodies(csv('name,url', '5" pipe,https://a.example')), [
    { name: '5" pipe', url: 'https://a.example', protocol: 'https' },
  ]);
});

void t.test('what looks like a formula is kept, and what was neutralised is restored', async (t) => {
  const names = ['=1+1', '+1', '-1', '@a', "'=1+1", "''=1", "'plain"];
  t.same(
    bodies(csv('name,url', ...names.map((name) => `${name},https://a.example`))).map(
      (body) => 'name' in body && body.name,
    ),
    ['=1+1', '+1', '-1', '@a', '=1+1', "'=1", "'plain"],
  );
});
