import t from 'tap';
import { reportLines } from './check-report.ts';
import type { Report } from './check-report.ts';
import { settingsFrom, typeFor } from './check-request.ts';
import { exitCodeOf } from './check.ts';
import { terminalOf } from './output.ts';

void t.test('the type is the one asked for, else that of the scheme, else that of the port, else https', async (t) => {
  const types = {
    'https://a.test/x': 'https',
    'tcp://a.test:1': 'tcp',
    'a.test': 'https',
    'a.test/path:80': 'https',
    'a.test:5432': 'postgres',
    '[2001:db8::1]:22': 'ssh',
    '2001:db8::1': 'https',
    'a.test:12345': 'tcp',
    'rediss://a.test': 'redis',
    'mqtts://a.test': 'mqtt',
  };
  for (const [target, type] of Object.entries(types)) t.equal(typeFor(target, undefined), type, target);
  t.equal(typeFor('https://a.test', 'ssl'), 'ssl');
  t.throws(() => typeFor('gopher://a.test', undefined), /no check type/);
  t.throws(() => typeFor('a.test', '__proto__'), /no check type/);
});

void t.test('a text becomes what its setting takes', async (t) => {
  const set = (name: string, text: string, isJson = false) => settingsFrom('https', {}, [{ name, text, isJson }])[name];
  t.equal(set('keyword', '200'), '200', 'a text that looks like a number stays one');
  t.equal(set('max_redirects', '3'), 3);
  t.equal(set('verify_tls', 'false'), false);
  t.same(set('expected_status', '200-299, 404'), ['200-299', '404']);
  t.same(set('expected_status', '[200]'), [200]);
  t.same(set('headers', '{"Accept": "text/plain"}'), { Accept: 'text/plain' });
  t.same(set('keyword', '{"pattern": "a"}', true), { pattern: 'a' });
  t.throws(() => set('toString', 'x'), /no setting/);
  t.throws(() => settingsFrom('https', [], []), /JSON object/);
  t.throws(() => settingsFrom('https', { nonsense: 1 }, []), /do not fit/);
});

const report: Report = {
  type: 'https',
  target: 'https://a.test/',
  outcome: {
    outcome: 'fail',
    total: 100_000,
    phases: { dns: 10_000, connect: 20_000, tls: 30_000, first_byte: 30_000 },
    source: 'target',
    code: 'http_status',
    message: 'The server answered 500\u001b[2J.',
    evidence: { address: '192.0.2.1', port: 443, status: 500 },
  },
  trace: [{ atMs: 1, step: 'dns', detail: 'a.test is 192.0.2.1' }],
};

void t.test('the report has steps, a waterfall without gaps, evidence and a verdict', async (t) => {
  const lines = reportLines(report, undefined);
  t.match(lines.slice(0, 2), ['https://a.test/ (https)', '  dns: a.test is 192.0.2.1']);
  const bars = lines.filter((line) => line.includes('█'));
  t.same(
    bars.map((line) => line.trim().split(/ +/)[0]),
    ['dns', 'connect', 'tls', 'first_byte', 'other'],
  );
  const spans = bars.map((line) => [line.indexOf('█'), line.lastIndexOf('█') + 1] as const);
  for (const [index, [from]] of spans.entries()) if (index > 0) t.equal(from, spans[index - 1]?.[1]);
  t.equal((spans[4]?.[1] ?? 0) - (spans[0]?.[0] ?? 0), 50, 'all of them fill the width');
  t.ok(lines.includes('  address: 192.0.2.1 port 443'));
  t.equal(lines.at(-1), 'fail in 100.0 ms: The server answered 500 [2J. [http_status, target]');
  t.notMatch(lines.join('\n'), '\u001b', 'what a target says steers no terminal');
  t.ok(
    Math.max(
      ...reportLines(report, { columns: 50, colours: false })
        .slice(2, 9)
        .map((line) => line.length),
    ) <= 50,
  );
});

void t.test('colours are for terminals that want them', async (t) => {
  t.ok(reportLines(report, { columns: 80, colours: true }).at(-1)?.startsWith('\u001b[31mfail'));
  t.equal(terminalOf({ columns: 80 }, {}), undefined);
  t.same(terminalOf({ isTTY: true, columns: 100 }, { TERM: 'xterm' }), { columns: 100, colours: true });
  t.match(terminalOf({ isTTY: true, columns: 100 }, { NO_COLOR: '1' }), { colours: false });
  t.match(terminalOf({ isTTY: true }, { TERM: 'dumb' }), { columns: 80, colours: false });
});

void t.test('the exit code says whether the target answers', async (t) => {
  const codes = { ok: 0, slow: 0, warn: 0, fail: 1, timeout: 1, probe_error: 1, skipped: 1 } as const;
  for (const [outcome, code] of Object.entries(codes) as [keyof typeof codes, number][])
    t.equal(exitCodeOf({ outcome, total: 1, phases: {} }), code, outcome);
  t.equal(exitCodeOf({ outcome: 'fail', total: 1, phases: {}, code: 'target_invalid' }), 2);
});
