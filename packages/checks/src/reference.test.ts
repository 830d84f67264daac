import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { codeMeanings, errorCodeOf, errorCodes } from './outcome.ts';
import { checkTypeOf, protocols, secretFieldsOf, settingsSchema } from './registry.ts';

const root = import.meta.dirname;

void t.test('the example of each type is one that the API would take', async (t) => {
  for (const protocol of protocols) {
    const { reference, validateTarget } = checkTypeOf(protocol);
    const settings = settingsSchema(protocol).safeParse(reference.settings ?? {});
    t.ok(
      settings.success,
      `${protocol}: ${settings.error?.issues[0]?.path.join('.') ?? ''} ${settings.error?.message ?? ''}`,
    );
    const [first, ...others] = reference.targets;
    t.equal(validateTarget({ url: first }, settings.data), undefined, `${protocol}: ${first}`);
    const plain = settingsSchema(protocol).parse({});
    for (const url of others)
      t.ok(
        [settings.data, plain].some((each) => validateTarget({ url }, each) === undefined),
        `${protocol}: ${url}`,
      );
    for (const field of secretFieldsOf(protocol))
      t.ok(
        [undefined, '…'].includes(reference.settings?.[field] as string | undefined),
        `${protocol}: no secret in an example`,
      );
  }
});

void t.test('each type tells its phases in their order, and what each of its facts means', async (t) => {
  const order = ['dns', 'connect', 'tls', 'first_byte', 'transfer'];
  for (const protocol of protocols) {
    const { phases, details } = checkTypeOf(protocol).reference;
    t.ok(phases.length > 0, protocol);
    t.same(
      phases,
      order.filter((each) => phases.some((phase) => phase === each)),
    );
    for (const [name, meaning] of Object.entries(details)) {
      t.match(name, /^[a-z][a-z0-9_]*$/);
      t.match(meaning, /^[^]{5,140}\.$/, `${protocol}: ${name}`);
    }
    t.ok(Object.keys(details).length <= 30, 'as many as evidence may have');
  }
});

/** Facts that a type's own sources write down by name. */
function namedFacts(protocol: string): readonly string[] {
  const registry = readFileSync(path.join(root, 'registry.ts'), 'utf8');
  const main = new RegExp(`import \\{[^}]*\\b${protocol}\\b[^}]*\\} from './([^']+)'`).exec(registry)?.[1] ?? '';
  const seen = new Set<string>();
  const visit = (file: string): string[] => {
    if (seen.has(file) || !existsSync(path.join(root, file))) return [];
    seen.add(file);
    const text = readFileSync(path.join(root, file), 'utf8');
    const own = [...text.matchAll(/(?:\bnote\(|\bdetails\[)'([a-z_0-9]+)'/g)].map(([, name = '']) => name);
    const folder = main.replace(/\.ts$/, '/');
    const next = [...text.matchAll(/from '(\.[^']+\.ts)'/g)].map(([, each = '']) =>
      path.join(path.dirname(file), each),
    );
    return [...own, ...next.filter((each) => each.startsWith(folder)).flatMap(visit)];
  };
  return visit(main);
}

void t.test('no type writes down a fact that its reference does not explain', async (t) => {
  let found = 0;
  for (const protocol of protocols)
    for (const name of namedFacts(protocol)) {
      found += 1;
      t.ok(Object.hasOwn(checkTypeOf(protocol).reference.details, name), `${protocol}: ${name}`);
    }
  t.ok(found > 40, `${found} facts were found in the sources`);
});

void t.test('every error code has a number of its own, in ascending order, and one sentence', async (t) => {
  const numbers = Object.values(errorCodes);
  t.same(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  for (const [code, number] of Object.entries(errorCodes)) {
    t.ok(Number.isSafeInteger(number) && number > 0 && number < 32_768, 'a smallint of the database');
    t.equal(errorCodeOf(number), code);
    t.match(codeMeanings[code as keyof typeof errorCodes], /^[A-Z][^\n…$]{10,160}\.$/, code);
  }
  t.equal(errorCodeOf(0), undefined);
  t.equal(new Set(Object.values(codeMeanings)).size, numbers.length, 'no two mean the same');
});
