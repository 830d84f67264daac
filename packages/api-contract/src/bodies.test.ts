import t from 'tap';
import { z } from 'zod';
import * as contracts from './index.ts';

/** What browsers make, by a standard that may add fields: they are passed over. */
const ofBrowsers: ReadonlySet<string> = new Set(['passkey', 'passkey.response']);

type Def = {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
};

/** Objects that pass unknown fields over, by their place in a body. */
function openObjects(schema: z.ZodType, place: readonly string[] = []): readonly string[] {
  const { type, shape, catchall, innerType, in: input, element, options = [] } = schema.def as unknown as Def;
  const isOpen = type === 'object' && !(catchall instanceof z.ZodNever);
  return [
    ...(isOpen ? [place.join('.')] : []),
    ...Object.entries(shape ?? {}).flatMap(([name, field]) => openObjects(field, [...place, name])),
    ...[innerType, input, element, ...options].flatMap((inner) =>
      inner === undefined ? [] : openObjects(inner, place),
    ),
  ];
}

const routes = Object.values(contracts).filter(
  (value): value is typeof value & contracts.RouteContract =>
    typeof value === 'object' && 'method' in value && 'credentials' in value,
);

/** Fields of a body, through what stands around its object. */
function fieldsOf(body: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  const { shape, innerType, in: input } = (body?.def ?? { type: 'none' }) as unknown as Def;
  const inner = innerType ?? input;
  return shape ?? (inner === undefined ? {} : fieldsOf(inner));
}

/** What `null` does not take back to a default, and why. */
const keptDefaults: ReadonlyMap<string, string> = new Map([
  ['PATCH /api/v1/alert-channel-configs/:config_id settings', 'merged: each setting takes null by itself'],
  ['PATCH /api/v1/monitors/:monitor_id url', 'what is checked: empty for groups alone, which is the default of theirs'],
  ['PATCH /api/v1/workspaces/:id/members/:member_id role', 'the only field there is'],
]);

void t.test('null takes a field of a change back to the default that a new one has', (t) => {
  const creating = new Map(routes.filter(({ method }) => method === 'POST').map((route) => [route.path, route.body]));
  const kept = new Set(keptDefaults.keys());
  let tried = 0;
  for (const { method, path, body } of routes) {
    if (method !== 'PATCH' && method !== 'PUT') continue;
    const created = fieldsOf(creating.get(path.replace(/\/:[a-z_]+$/, '')));
    for (const [name, field] of Object.entries(fieldsOf(body))) {
      const def = created[name]?.def as { readonly type?: string; readonly defaultValue?: unknown } | undefined;
      if (def?.type !== 'default') continue;
      const at = `${method} ${path} ${name}`;
      if (kept.delete(at)) continue;
      tried += 1;
      const read = field.safeParse(null);
      t.ok(read.success, at);
      t.same(read.data, def.defaultValue, `${at}: the default`);
    }
  }
  t.ok(tried >= 18, `${tried} fields`);
  t.same([...kept], [], 'every exception is one');
  t.end();
});

void t.test('no body passes a field over that its route does not know', async (t) => {
  const bodies = routes.flatMap(({ method, path, body }) =>
    body === undefined ? [] : [{ at: `${method} ${path}`, body }],
  );
  t.ok(bodies.length > 80, `${bodies.length} bodies`);
  for (const { at, body } of bodies) {
    t.same(
      openObjects(body).filter((place) => !ofBrowsers.has(place)),
      [],
      at,
    );
  }
});
