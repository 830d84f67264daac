import {
  createApiCheckSchema,
  createMonitorSchema,
  invalidInput,
  Problem,
  updateApiCheckSchema,
} from '@parallax/api-contract';
import type { ApiCheck, Monitor } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { composeSettings } from '../monitors/index.ts';
import { inFlatBody } from './problems.ts';
import { apiCheckOf, monitorChangeOf, newMonitorOf } from './shape.ts';

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const tree = fc.constantFrom(
  { subject: 'status', comparison: 'equals', value: 200 },
  { any: [{ subject: 'response_time', comparison: 'less', value: 900, severity: 'warn' }] },
);
const step = fc.record(
  {
    name: word,
    method: fc.constantFrom('GET', 'POST', 'DELETE'),
    url: fc.oneof(
      word.map((each) => `/${each}`),
      word.map((each) => `https://${each}.example.com/{{a}}`),
    ),
    headers: fc.dictionary(
      word.map((each) => `X-${each}`),
      word,
    ),
    json: fc.jsonValue({ maxDepth: 2 }),
    timeout_seconds: fc.integer({ min: 1, max: 60 }),
    assertions: tree,
    extract: fc.array(fc.record({ name: word, from: fc.constant('header'), path: word }), { maxLength: 3 }),
    continue_on_failure: fc.boolean(),
  },
  { requiredKeys: [] },
);
const check = fc.record(
  {
    workspace_id: fc.integer({ min: 1, max: 99 }),
    url: fc.constant('https://shop.example.com'),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    variables: fc.dictionary(word, word),
    ca_certificates: fc.constant(undefined),
    resolver: fc.constantFrom(undefined, ['192.0.2.53'], ['192.0.2.53:5353', '2001:db8::53']),
    assertions: tree,
    all_addresses: fc.boolean(),
    description: word,
    interval_seconds: fc.integer({ min: 1, max: 86_400 }),
    confirmations: fc.integer({ min: 1, max: 5 }),
    tags: fc.uniqueArray(word, { maxLength: 3 }),
    is_active: fc.boolean(),
  },
  { requiredKeys: ['workspace_id', 'url', 'steps'] },
);

/** What would be stored of a body, as far as it is the body's. */
function stored(body: unknown): Monitor {
  const monitor = newMonitorOf(createApiCheckSchema.parse(body));
  const { settings, ...fields } = createMonitorSchema.parse(monitor);
  const { open } = composeSettings('api', {}, { settings, topLevel: {} });
  return { ...fields, settings: open, dnsbl_servers: [], domain_thresholds_days: [] } as unknown as Monitor;
}

/** The fields of an answer that a change may carry. */
function editable(answer: ApiCheck): Record<string, unknown> {
  const names = Object.keys(updateApiCheckSchema.shape);
  return Object.fromEntries(
    Object.entries(answer).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}

void t.test('to a monitor and back it is the same', (t) => {
  fc.assert(
    fc.property(check, (body) => {
      const monitor = stored(body);
      const answer = apiCheckOf(monitor, []);
      const change = monitorChangeOf(updateApiCheckSchema.parse(editable(answer)));
      const again = composeSettings('api', monitor.settings, { settings: change.settings, topLevel: {} });
      t.same(again.open, monitor.settings, 'sent back it says nothing new');
      const { settings: _settings, ...fields } = change;
      for (const [name, value] of Object.entries(fields)) t.same(value, monitor[name as keyof Monitor], name);
      t.same(apiCheckOf({ ...monitor, settings: { ...again.open } }, []), answer);
      // Nothing of a monitor is lost but what an API check has not.
      const back = new Set([...Object.keys(answer), 'protocol', 'settings', 'dnsbl_servers', 'domain_thresholds_days']);
      t.same(
        Object.keys(monitor).filter((name) => !back.has(name)),
        [],
      );
      t.same(
        Object.keys(monitor.settings).filter((name) => !Object.hasOwn(answer, name)),
        [],
      );
    }),
    { numRuns: 200 },
  );
  t.end();
});

void t.test('where it goes is told by the first step that says so', (t) => {
  const urlOf = (steps: object[], variables: object = {}): string =>
    newMonitorOf(createApiCheckSchema.parse({ workspace_id: 1, steps, variables })).url;
  t.equal(
    urlOf([{ url: '/a' }, { url: 'https://{{h}}:8443/b' }, { url: 'http://c.test' }], { h: 'b.test' }),
    'https://b.test:8443',
  );
  t.throws(() => urlOf([{ url: '/a' }]), { code: 'invalid_input', errors: [{ path: '/url', code: 'required' }] });
  t.throws(() => urlOf([{ url: 'https://{{secret}}/' }]), { errors: [{ path: '/settings/steps/0/url' }] });
  t.end();
});

void t.test('what is refused is told by the places of the flat body', (t) => {
  const moved = (path: `/${string}`): unknown => {
    const problem = inFlatBody(invalidInput('body', path, 'custom', `body ${path}: m`));
    return problem instanceof Problem ? [problem.errors?.[0]?.path, problem.message] : undefined;
  };
  t.same(moved('/settings/steps/1/url'), ['/steps/1/url', 'body /steps/1/url: m']);
  t.same(moved('/monitor_id'), ['/api_check_id', 'body /api_check_id: m']);
  t.same(moved('/name'), ['/name', 'body /name: m']);
  t.same(moved('/settings'), ['/settings', 'body /settings: m']);
  const other = new Error('x');
  t.equal(inFlatBody(other), other);
  t.end();
});
