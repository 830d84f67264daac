import t from 'tap';
import { readAsCode } from '../document/read.ts';
import { AsCodeError } from '../errors.ts';
import type { WantedSecret } from '../secrets.ts';
import type { CurrentGroup, CurrentMonitor } from '../state.ts';
import { differencesOf } from './difference.ts';
import { planOf, sizeOf, stepsOf } from './plan.ts';
import type { PlanOptions } from './plan.ts';
import { showDifferences, showPlan } from './show.ts';
import { wantedMonitor } from './wanted.ts';

const monitor = (name: string, more: Partial<CurrentMonitor> = {}): CurrentMonitor => ({
  id: 1,
  version: 3,
  name,
  settings: {},
  secrets: [],
  ...more,
  fields: { url: 'https://a.example/', protocol: 'https', interval_seconds: 60, tags: [], probes: [], ...more.fields },
});

const group = (name: string, fields: Partial<CurrentGroup['fields']> = {}): CurrentGroup => ({
  id: 9,
  version: 2,
  name,
  fields: { description: '', is_paused: false, tags: [], monitors: [], ...fields },
});

type There = { readonly monitors?: readonly CurrentMonitor[]; readonly groups?: readonly CurrentGroup[] };

function plan(
  yaml: string,
  there: There = {},
  options: Partial<PlanOptions> = {},
  secrets: Record<string, WantedSecret> = {},
) {
  const file = readAsCode(`parallax: 1\n${yaml}`, 'a.yaml');
  const faults: string[] = [];
  const monitors = file.monitors?.map((each) => {
    const known = Object.keys(each.secrets).map((name) => [name, secrets[name] ?? { kept: true as const }] as const);
    return wantedMonitor(each, Object.fromEntries(known), ({ message }) => faults.push(message));
  });
  if (faults.length > 0) throw new AsCodeError(faults.join('\n'));
  const state = { monitors: there.monitors ?? [], groups: there.groups ?? [] };
  return planOf({ monitors, groups: file.groups }, state, {
    prune: false,
    sendSecrets: false,
    probes: new Set(['p1']),
    ...options,
  });
}

const a = (more = '') => `monitors:\n  - { name: a, url: "https://a.example/"${more} }\n`;

void t.test('what is as it is wanted is not written', async (t) => {
  const same = plan(a(', interval_seconds: 60'), { monitors: [monitor('a')] });
  t.equal(sizeOf(same), 0);
  t.equal(same.unchanged, 1);
  t.match(showPlan(same), 'nothing to do: 1 unchanged');
});

void t.test('a change is told field by field, and only that is written', async (t) => {
  const there = { monitors: [monitor('a', { settings: { method: 'GET' } }), monitor('b')] };
  const changed = plan(a(', interval_seconds: 30, tags: [x], probes: [p1]'), there);
  t.same(changed.monitors[0]?.fields, { interval_seconds: 30, tags: ['x'], probes: ['p1'] });
  t.same(changed.monitors[0]?.settings, {}, 'settings that the file does not speak of stay');
  t.equal(
    showPlan(changed),
    [
      '~ monitor "a"',
      '    interval_seconds: 60 -> 30',
      '    tags: [] -> ["x"]',
      '    probes: [] -> ["p1"]',
      'to create: 0, to change: 1, to remove: 0, unchanged: 0',
    ].join('\n'),
  );
});

void t.test('of maps and of lists of maps only what differs inside is told', async (t) => {
  const steps = [
    { url: '/', method: 'GET', extract: [{ name: 'a', from: 'header', path: 'x' }] },
    { url: '/b', method: 'GET' },
  ];
  const before = { steps, headers: { 'X-A': '1', 'X-\u202e': 'old' } };
  const changedSteps = [
    { method: 'GET', url: '/', extract: [{ from: 'cookie', name: 'a', path: 'x' }] },
    { url: '/b', method: 'GET' },
    { url: '/c' },
  ];
  const changed = { headers: { 'X-A': '2' }, steps: changedSteps };
  t.same(showDifferences(differencesOf('settings.', before, changed)), [
    '    settings.headers.X-A: "1" -> "2"',
    String.raw`    settings.headers.X-\u{202e}: "old" -> (none)`,
    '    settings.steps[0].extract[0].from: "header" -> "cookie"',
    '    settings.steps[2]: (none) -> {"url":"/c"}',
  ]);
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'x']));
  const [whole, ...others] = differencesOf('', { headers: many }, { headers: {} });
  t.same(whole, { field: 'headers', before: many, after: {} }, 'many differences are not told one by one');
  t.same(others, []);
});

void t.test('settings that are given are all of them: the others go back to their defaults', async (t) => {
  const defaults = plan(a(', settings: {}')).monitors[0]?.settings ?? {};
  t.ok(Object.keys(defaults).length > 3, 'a new one has the defaults of its type');
  const there = { monitors: [monitor('a', { settings: { ...defaults, method: 'POST', keyword: 'x' } })] };
  t.same(plan(a(', settings: {}'), there).monitors[0]?.settings, { method: defaults['method'], keyword: null });
  t.equal(sizeOf(plan(a(', settings: {}'), { monitors: [monitor('a', { settings: defaults })] })), 0);
  t.throws(() => plan(a(', settings: { methud: GET }')), /no setting "methud"/);
});

void t.test('only --prune removes, and only of the kinds that files speak of', async (t) => {
  const there = { monitors: [monitor('a'), monitor('b', { id: 2 })], groups: [group('g', { monitors: ['a', 'b'] })] };
  t.same(plan(a(), there).removedMonitors, []);
  const pruned = plan(a(), there, { prune: true });
  t.match(pruned.removedMonitors, [{ name: 'b', id: 2, version: 3 }]);
  t.same(pruned.removedGroups, [], 'groups are not in the file');
  t.match(plan(`${a()}monitor_groups: []\n`, there, { prune: true }).removedGroups, [{ name: 'g' }]);
  const leaving = plan(`${a()}monitor_groups:\n  - { name: g, monitors: [a] }\n`, there, { prune: true });
  t.same(leaving.groups, [], 'a monitor that is removed leaves its groups by that');
});

void t.test('members and tags of groups change by what comes and what goes', async (t) => {
  const there = { monitors: [monitor('a'), monitor('b')], groups: [group('g', { monitors: ['b'], tags: ['x', 'y'] })] };
  const text = `${a()}monitor_groups:\n  - { name: g, monitors: [a, a], tags: [y, z], is_paused: true }\n`;
  t.match(plan(text, there).groups, [
    { fields: { is_paused: true }, addMonitors: ['a'], removeMonitors: ['b'], addTags: ['z'], removeTags: ['x'] },
  ]);
  t.throws(
    () => plan(`${a()}monitor_groups:\n  - { name: g, monitors: [c] }\n`, there),
    /a\.yaml:5:\d+: .*no monitor "c"/,
  );
});

void t.test('what is named twice or is not there is refused with its place', async (t) => {
  t.throws(
    () => plan(`${a()}  - { name: a, url: "https://b.example/" }\n`),
    /a\.yaml:4:\d+: .*stands already in a\.yaml:3/,
  );
  t.throws(() => plan(a(', probes: [p1, p2]')), /a\.yaml:3:\d+: .*no probe "p2"/);
});

void t.test('a secret is sent when it is missing, when asked, and when the destination is another', async (t) => {
  const text = a(', settings: { username: u, password: { from_env: X } }');
  const value = { password: { value: 'open-sesame' } };
  const made = plan(text, {}, {}, value);
  t.same(made.monitors[0]?.secrets, { password: 'open-sesame' });
  t.notMatch(showPlan(made), 'open-sesame');
  const { settings } = made.monitors[0] ?? { settings: {} };
  const there = (url: string, secrets = ['password']) => ({
    monitors: [monitor('a', { settings, secrets, fields: { url } })],
  });
  const home = 'https://a.example/';
  const left = plan(text, there(home), {}, value);
  t.equal(sizeOf(left), 0, 'else a second apply would never plan nothing');
  t.match(showPlan(left), /not compared: 1; --secrets/);
  t.match(plan(text, there(home), { sendSecrets: true }, value).monitors, [
    { secrets: value.password.value ? { password: 'open-sesame' } : {} },
  ]);
  t.match(plan(text, there('https://b.example/'), {}, value).monitors, [{ secrets: { password: 'open-sesame' } }]);
  const kept = a(', settings: { username: u, password: { kept: true } }');
  t.equal(sizeOf(plan(kept, there(home))), 0);
  t.throws(() => plan(kept), /a\.yaml:3:\d+: password of "a": there is none to keep/);
  t.throws(() => plan(kept, there('https://b.example/')), /do not follow/);
  t.match(showPlan(plan(a(), there('https://b.example/'))), /password: \(secret\) is dropped/);
});

void t.test('a plan cannot steer a terminal', async (t) => {
  const name = '\u009b2J\u202e';
  const shown = showPlan(plan('monitors: []\n', { monitors: [monitor(name)] }, { prune: true }));
  t.match(shown, '\\u{9b}2J\\u{202e}');
  t.notMatch(shown, name);
});

const watching = (name: string, settings: Record<string, unknown>): CurrentMonitor =>
  monitor(name, { settings, fields: { protocol: 'group' } });
const g = (name: string, settings: string) => `  - { name: ${name}, protocol: group, settings: ${settings} }\n`;
const order = (planned: ReturnType<typeof plan>) =>
  stepsOf(planned).map((step) => ('write' in step ? step.write.name : `-${step.removed.name}`));

void t.test('what a group monitor watches stands by name and is there before it', async (t) => {
  const text =
    'monitors:\n' +
    g('top', '{ monitors: [web, a, old] }') +
    g('web', '{ group: shop, minimum_up: 1 }') +
    g('low', '{ monitors: [a] }') +
    '  - { name: a, url: "https://a.example/" }\n' +
    'monitor_groups:\n  - { name: shop, monitors: [low, a] }\n';
  const there = { monitors: [monitor('old'), monitor('gone', { id: 7 })], groups: [group('leaving')] };
  const made = plan(text.replace('monitors:\n', 'monitors:\n  - { name: old, url: "https://a.example/" }\n'), there, {
    prune: true,
  });
  t.same(order(made), ['a', '-gone', 'low', 'shop', 'web', 'top', '-leaving']);
  t.match(showPlan(made), '+ monitor "top"\n    protocol: "group"\n    settings.monitors: ["a","old","web"]');
  const then = {
    monitors: [
      watching('top', { monitors: ['a', 'old', 'web'] }),
      watching('web', { group: 'shop', minimum_up: 1 }),
      watching('low', { monitors: ['a'] }),
      monitor('a'),
      monitor('old'),
    ],
    groups: [group('shop', { monitors: ['a', 'low'] })],
  };
  t.equal(sizeOf(plan(text, then)), 0, 'applied again there is nothing to do');
  const changed = plan(`monitors:\n${g('web', '{ monitors: [a] }')}`, then);
  t.same(changed.monitors[0]?.settings, { monitors: ['a'], group: null, minimum_up: null });
  t.match(showPlan(changed), 'settings.monitors: (default) -> ["a"]\n    settings.group: "shop" -> (none)');
  const turned = plan(`monitors:\n${g('top', '{ monitors: [] }')}${g('low', '{ monitors: [top] }')}`, then);
  t.same(order(turned), ['top', 'low'], 'what lets go comes first');
  const pruned = plan(
    `monitors:\n${g('top', '{ monitors: [a, web] }')}${g('web', '{ group: shop, minimum_up: 1 }')}${g('low', '{ monitors: [a] }')}${a().split('\n')[1]}\n`,
    then,
    { prune: true },
  );
  t.same(order(pruned), ['-old'], 'a monitor that is removed leaves group monitors by that');
});

void t.test('what a group monitor cannot watch is refused with its place', async (t) => {
  const there = {
    monitors: [monitor('a'), watching('keyed', { group: '#5' }), watching('up', { monitors: ['shopping'] })],
    groups: [group('shop', { monitors: ['a'] })],
  };
  const refused = (text: string, told: RegExp, options: Partial<PlanOptions> = {}) =>
    t.throws(() => plan(text, there, options), told);
  refused(`monitors:\n${g('x', '{ monitors: [a, nobody] }')}`, /a\.yaml:3:\d+: monitors of "x": .*no monitor "nobody"/);
  refused(`monitors:\n${g('x', '{ group: none }')}`, /a\.yaml:3:\d+: group of "x": .*no monitor group "none"/);
  refused(`monitors:\n${g('x', '{ monitors: [x] }')}`, /contain itself: "x" → "x"/);
  refused(`monitors:\n${g('x', '{ monitors: [y] }')}${g('y', '{ monitors: [x] }')}`, /"x" → "y" → "x"/);
  refused(`monitors:\n${g('shopping', '{ monitors: [up] }')}`, /a\.yaml:3:\d+: .*"up" → "shopping" → "up"/);
  const both = g('w', '{ group: shop }');
  refused(
    `monitors:\n${both}monitor_groups:\n  - { name: shop, monitors: [w] }\n`,
    /contain itself: "w" → group "shop" → "w"/,
  );
  refused(`monitors:\n${both}monitor_groups: []\n`, /no monitor group "shop"/, { prune: true });
  refused(`monitors:\n${g('x', '{}')}`, /settings of "x": .*needs monitors or group/);
  refused('monitors:\n  - { name: x, protocol: group }\n', /a\.yaml:3:\d+: .*monitors or group is needed/);
  refused(`monitors:\n${g('x', '{ monitor_ids: [1] }')}`, /write monitors, by name, in place of monitor_ids/);
  refused(`monitors:\n${g('x', '{ monitors: [a], group: shop }')}`, /one of them/);
  refused('monitors:\n  - { name: x, protocol: group, url: "https://a.example/" }\n', /a\.yaml:3:\d+: .*has no url/);
  refused('monitors:\n  - { name: x, protocol: https }\n', /a\.yaml:3:\d+: url: it is needed/);
  t.equal(sizeOf(plan(`monitors:\n${g('keyed', '{ group: "#5" }')}`, there)), 0, 'what a key cannot name may stay');
});
