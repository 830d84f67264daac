import t from 'tap';
import type { Test } from 'tap';
import type { TestAnswer } from '../../control-plane/src/identity/testing.ts';
import { documented, undocumented } from './document.ts';
import type { ParameterSchema } from './document.ts';
import { describedBy, leftOut, refusedBy, takenBy } from './parameters/bounds.ts';
import { ofApiChecks } from './parameters/of-api-checks.ts';
import { ofHistories } from './parameters/of-histories.ts';
import { ofLists } from './parameters/of-lists.ts';
import { ofOthers } from './parameters/of-others.ts';
import { ofServiceLevels } from './parameters/of-service-levels.ts';
import { makeThings } from './parameters/things.ts';
import type { EndpointTrials, Request, Trial } from './parameters/trial.ts';
import { openWorld } from './world.ts';

/*
 * Every query parameter of the endpoints of monitors and of their groups: at each bound and inside it does what it is for, outside of it the
 * answer is 422 and names it. Which parameters there are is compared with the OpenAPI document, so that none is added without its trial.
 */

const trials: Readonly<Record<string, EndpointTrials>> = {
  ...ofLists,
  ...ofHistories,
  ...ofServiceLevels,
  ...ofOthers,
  ...ofApiChecks,
};
const group = /^\/api\/v1\/(monitors|monitor-groups|api-checks)(\/|$)/;

const world = await openWorld(t);
const things = await makeThings(world);

void t.test('every query parameter in the document is tried here, with the bounds that it has there', async (t) => {
  const wanted = documented
    .filter(({ path, query }) => group.test(path) && Object.keys(query).length > 0)
    .map(({ name, query }) => [name, Object.fromEntries(entriesOf(query, bare))] as const);
  const tried = Object.entries(trials).map(
    ([name, { parameters }]) =>
      [name, Object.fromEntries(entriesOf(parameters, ({ bounds }) => describedBy(bounds)))] as const,
  );
  t.same(Object.fromEntries(tried), Object.fromEntries(wanted));
});

for (const [name, endpoint] of Object.entries(trials)) {
  const [method = '', path = ''] = name.split(' ');
  await t.test(name, async (t) => {
    for (const [parameter, trial] of Object.entries(endpoint.parameters)) {
      await t.test(parameter, async (t) => tryParameter(t, { method, path, parameter, trial, endpoint }));
    }
  });
}

type Tried = {
  readonly method: string;
  readonly path: string;
  readonly parameter: string;
  readonly trial: Trial;
  readonly endpoint: EndpointTrials;
};

async function tryParameter(t: Test, { method, path, parameter, trial, endpoint }: Tried): Promise<void> {
  const { bounds, effect, more, of = endpoint.of } = trial;
  const isRead = method === 'GET' && !path.endsWith('/cert-chain');
  let made: Request | undefined;
  /** Reading changes nothing, so one preparation does for all reads. */
  const prepare = async (): Promise<Request> => {
    made = isRead && made !== undefined ? made : await of(world, things);
    return made;
  };
  const ask = async (prepared: Request, values: readonly string[]): Promise<TestAnswer> => {
    const answer = await send(
      method,
      prepared,
      values.map((value) => `${parameter}=${encodeURIComponent(value)}`).join('&'),
    );
    t.equal(undocumented(method, path, answer), undefined, 'the answer is as the document says');
    return answer;
  };
  const isRefused = ({ status, body }: TestAnswer, what: string): void => {
    t.match(
      { status, body },
      { status: 422, body: { errors: [{ in: 'query', path: `/${parameter}` }] } },
      `${what} is refused`,
    );
  };

  for (const value of [...takenBy(bounds), ...(more?.(things) ?? [])]) {
    const prepared = await prepare();
    const answer = await ask(prepared, [value]);
    // What does not exist is not found, which only an identifier may be.
    if (answer.status !== 404 || !/_ids?$/.test(parameter))
      t.ok(answer.status < 300, `${shown(value)} is taken: ${answer.status} ${answer.text.slice(0, 200)}`);
    await effect({ t, world, things, value, answer, prepared });
  }
  const refused = await of(world, things);
  for (const value of refusedBy(bounds)) isRefused(await ask(refused, [value]), shown(value));
  const [first = '', second = first] = [...(more?.(things) ?? []), ...takenBy(bounds)];
  const query = `${parameter}=${encodeURIComponent(first)}&no_such_parameter=1&${parameter.toUpperCase()}=nothing`;
  t.ok((await send(method, await prepare(), query)).status < 300, 'what has another name is passed over');
  if (bounds.kind === 'several') {
    const filled = Array.from({ length: bounds.most }, () => first);
    t.ok((await ask(await prepare(), filled)).status < 300, `${bounds.most} times`);
    isRefused(await ask(refused, [...filled, first]), `${bounds.most + 1} times`);
  } else {
    isRefused(await ask(refused, [first, first]), 'twice the same');
    isRefused(await ask(refused, [first, second]), 'two of them');
  }
  const byDefault = leftOut(bounds);
  if (byDefault === undefined) return;
  const prepared = await prepare();
  const left = await ask(prepared, []);
  await effect({ t, world, things, value: byDefault, answer: left, prepared });
}

function send(method: string, { path, query = '', body, headers }: Request, more: string): Promise<TestAnswer> {
  const all = [query, more].filter((part) => part !== '').join('&');
  return world.call(method, all === '' ? path : `${path}?${all}`, {
    token: world.token,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
}

function shown(value: string): string {
  return value.length > 40 ? `${value.length} characters` : JSON.stringify(value);
}

/** A schema of the document without what it says to people. */
function bare(schema: ParameterSchema): unknown {
  const { $ref: _ref, items, anyOf, ...rest } = schema;
  const plain = Object.entries(rest).filter(([key]) => key !== 'description' && key !== 'id');
  return {
    ...Object.fromEntries(plain),
    ...(items === undefined ? {} : { items: bare(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(bare) }),
  };
}

function entriesOf<Value, Result>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): readonly (readonly [string, Result])[] {
  return Object.entries(record).map(([key, value]) => [key, change(value)] as const);
}
