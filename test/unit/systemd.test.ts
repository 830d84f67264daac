import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { agentSettings, readSettings } from '@parallax/settings';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';

/** What `systemd-analyze security` gives, from 0 (sealed off) to 10; the service must stay below. */
const mostExposure = 2.5;

const folder = 'deploy/systemd';
const unitFile = 'parallax-probe-agent.service';
const unit = readFileSync(path.join(folder, unitFile), 'utf8');
const settingLine = /^(PARALLAX_PROBE_[A-Z_]+)=(.*)$/;

/** All values of a key of the unit, in order. */
const valuesOf = (key: string): string[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const analyzer = 'systemd-analyze';
const analyze = (...args: string[]) => spawnSync(analyzer, args, { encoding: 'utf8' });

t.test('every setting of the unit and of the example is one that the agent knows, with a value that it takes', (t) => {
  const example = readFileSync(path.join(folder, 'probe.env'), 'utf8').split('\n');
  const settings = example.flatMap((line) => {
    const [, name, value] = settingLine.exec(line.replace(/^#(?=PARALLAX)/, '')) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  t.ok(settings.length >= 5, 'the example shows settings');
  t.ok(
    settings.every(([name]) => !name.includes('TOKEN')),
    'and no secret',
  );
  t.doesNotThrow(() => readSettings(agentSettings, Object.fromEntries(settings)));

  const ofUnit = valuesOf('Environment').map((line) => settingLine.exec(line)?.[1] ?? line);
  t.same(ofUnit.toSorted(), ['PARALLAX_PROBE_JOIN_TOKEN_FILE', 'PARALLAX_PROBE_STATE_DIR']);
  for (const name of ofUnit)
    t.ok(Object.hasOwn(agentSettings.settings, name.replace(/^PARALLAX_PROBE_|_FILE$/g, '')), name);
  t.end();
});

t.test('the state folder, the token and the command fit together', (t) => {
  t.same(valuesOf('ExecStart'), ['/usr/local/bin/probe-agent run']);
  t.ok(valuesOf('Environment').includes(`PARALLAX_PROBE_STATE_DIR=%S/${valuesOf('StateDirectory').join()}`));
  t.ok(valuesOf('Environment').includes('PARALLAX_PROBE_JOIN_TOKEN_FILE=%d/join-token'));
  t.match(valuesOf('LoadCredential'), [/^join-token:\//]);
  // An absent file without this would keep a registered probe from starting.
  t.match(valuesOf('SetCredential'), [/^join-token:/]);
  t.end();
});

t.test('pings can be sent, and no privilege beside that is held', (t) => {
  t.same(valuesOf('AmbientCapabilities'), ['CAP_NET_RAW']);
  t.same(valuesOf('CapabilityBoundingSet'), ['CAP_NET_RAW']);
  t.same(valuesOf('NoNewPrivileges'), ['yes']);
  t.same(valuesOf('DynamicUser'), ['yes']);
  t.same(valuesOf('ProtectSystem'), ['strict']);
  t.end();
});

t.test('systemd takes the unit without a word', (t) => {
  if (!needs(t, analyzer)) return t.end();
  // It looks for the program that is started, which is not installed here.
  const copy = path.join(t.testdir(), unitFile);
  writeFileSync(copy, unit.replace('/usr/local/bin/probe-agent', process.execPath));
  const { status, stdout, stderr } = analyze('verify', '--man=no', copy);
  t.equal(status, 0);
  // What it says of other units of this machine, which it reads beside ours, is not about us.
  const words = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(path.parse(unitFile).name));
  t.same(words, []);
  t.end();
});

t.test('the service is sealed off', (t) => {
  if (!needs(t, analyzer)) return t.end();
  const { stdout, stderr } = analyze('security', '--offline=true', '--no-pager', path.join(folder, unitFile));
  const exposure = Number(/exposure level for .*: ([\d.]+)/.exec(stdout)?.[1]);
  t.ok(exposure < mostExposure, `exposure ${exposure}, below ${mostExposure} ${stderr}`);
  t.end();
});
