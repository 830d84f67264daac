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

void t.test('no body passes a field over that its route does not know', async (t) => {
  const routes = Object.values(contracts).filter(
    (value): value is typeof value & contracts.RouteContract =>
      typeof value === 'object' && 'method' in value && 'credentials' in value,
  );
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
