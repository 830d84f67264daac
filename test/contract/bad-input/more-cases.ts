import type { RouteContract } from '@parallax/api-contract';
import { groupCheckSettings } from '@parallax/api-contract';
import { checkTypeOf, protocols } from '@parallax/checks';
import type { z } from 'zod';
import type { BadCase } from './cases.ts';
import { pointer } from './cases.ts';
import { describe, variantsOf } from './schema.ts';
import type { Schema } from './schema.ts';
import { sampleOf, spoil, withValue } from './values.ts';
import type { Known, Path } from './values.ts';

/** Media types and encodings that a JSON route does not take. */
export function headerCases(contract: RouteContract, target: string, known: Known): readonly BadCase[] {
  if (contract.body === undefined) return [];
  const body = JSON.stringify(sampleOf(describe(contract.body), known));
  const common = { method: contract.method, target };
  const refused = (
    what: string,
    headers: Readonly<Record<string, string>>,
    sent: string | Uint8Array<ArrayBuffer>,
  ): BadCase => ({
    ...common,
    name: `${contract.method} ${contract.path}: ${what}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: sent,
    statuses: [400, 415, 422],
  });
  return [
    refused('XML', { 'content-type': 'text/xml' }, body),
    refused('a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1'),
    refused('another character set', { 'content-type': 'application/json; charset=utf-16' }, body),
    refused('an encoding', { 'content-encoding': 'gzip' }, body),
    refused('no UTF-8', {}, new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    refused('UTF-16', {}, new Uint8Array(Buffer.from(`\ufeff${body}`, 'utf16le'))),
  ];
}

export type Foreign = {
  readonly monitor: number;
  readonly workspace: number;
  readonly group: number;
  readonly probe: number;
  /** An API check. */
  readonly check: number;
};

/** Identifiers of somebody else in each field that is one by its name, in lists behind a valid one where there is one. */
export function foreignCases(
  contract: RouteContract,
  target: string,
  known: Known,
  foreign: Foreign,
): readonly BadCase[] {
  const route = `${contract.method} ${contract.path}`;
  if (contract.body === undefined) return [];
  const json = { 'content-type': 'application/json' };
  return variantsOf(describe(contract.body)).flatMap((variant) =>
    identifiers(variant, []).flatMap(({ path, kind, isList }) => {
      const id = foreign[kind];
      const before = known[String(path.at(-1))];
      // Actions on many things report each of them, and are done to the others; every other route refuses the whole.
      const isReport = contract.path.endsWith('/bulk') && isList;
      const good = isList && !isReport && Array.isArray(before) ? (before as unknown[]) : [];
      const place = isList ? [...path, good.length] : path;
      // Most monitors need a URL, which the schema alone does not ask for.
      const withUrl = variant.properties?.['url'] === undefined ? {} : { url: known['url'] };
      const sample = { ...(sampleOf(variant, known) as object), ...withUrl };
      const body = withValue(sample, path, isList ? [...good, id] : id);
      return [
        {
          method: contract.method,
          target,
          headers: json,
          name: `${route}: ${pointer(place)} of somebody else`,
          body: JSON.stringify(body),
          statuses: isReport ? [200] : [403, 404, 422],
          ...(isList && !isReport ? { path: pointer(place) } : {}),
        },
      ];
    }),
  );
}

/** The same in the settings of every check type that name something. */
export function foreignSettingsCases(known: Known, foreign: Foreign): readonly BadCase[] {
  return settingsOfProtocols().flatMap(([protocol, settings]) =>
    identifiers(describe(settings), ['settings']).map(({ path, kind, isList }) => {
      const place = isList ? [...path, 1] : path;
      const ofThem = isList ? [known['monitor_id'], foreign[kind]] : foreign[kind];
      const body = { workspace_id: known['workspace_id'], name: 'settings of others', protocol };
      return {
        method: 'POST',
        target: '/api/v1/monitors',
        headers: { 'content-type': 'application/json' },
        name: `settings of ${protocol}: ${pointer(place)} of somebody else`,
        body: JSON.stringify(withValue(body, path, ofThem)),
        statuses: [403, 404, 422],
        path: pointer(place),
      };
    }),
  );
}

type Identifier = { readonly path: Path; readonly kind: keyof Foreign; readonly isList: boolean };

function identifiers(schema: Schema, path: Path): readonly Identifier[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const kind = /^(?:.*_)?(monitor|workspace|group|probe|check)_ids?$/.exec(name)?.[1] as keyof Foreign | undefined;
    if (kind !== undefined) return [{ path: [...path, name], kind, isList: name.endsWith('_ids') }];
    return variantsOf(field).flatMap((variant) => identifiers(variant, [...path, name]));
  });
}

/** Files that no import reads. */
export function fileCases({ method, path, file }: RouteContract, target: string): readonly BadCase[] {
  if (file === undefined) return [];
  const csv = { 'content-type': 'text/csv' };
  const json = { 'content-type': 'application/json' };
  const form = { 'content-type': 'multipart/form-data; boundary=x' };
  const refused = (
    what: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array<ArrayBuffer>,
    statuses: readonly number[] = [400, 415, 422],
  ): BadCase => ({ name: `${method} ${path}: ${what}`, method, target, headers, body, statuses });
  return [
    refused('nothing', csv, ''),
    refused('no column url', csv, 'a,b\n1,2\n'),
    refused('a heading twice', csv, 'url,url\nhttps://a.example/,https://b.example/\n'),
    refused('an open quote', csv, 'url\n"https://a.example/\n'),
    refused('NUL', csv, 'url\nhttps://a.example/\0\n', [200, 422]),
    refused('no UTF-8', csv, new Uint8Array([0x75, 0x72, 0x6c, 0x0a, 0xff, 0xfe])),
    refused('UTF-16', csv, new Uint8Array(Buffer.from('\ufeffurl\nhttps://a.example/\n', 'utf16le'))),
    refused('501 rows', csv, `url\n${'https://a.example/\n'.repeat(501)}`, [413, 422]),
    refused('2 MiB', csv, `url\n${'a'.repeat(2 * 1_024 * 1_024)}`, [413]),
    refused('no JSON', json, '{"version":'),
    refused('JSON of something else', json, '{"a":1}'),
    refused('deep JSON', json, `${'['.repeat(10_000)}${']'.repeat(10_000)}`),
    refused('a form without a file', form, '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'),
    refused(
      'a form that is cut off',
      form,
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nurl',
    ),
    refused('a form without a boundary', { 'content-type': 'multipart/form-data' }, 'url\n'),
    refused('an archive', { 'content-type': 'application/zip' }, 'PK'),
    refused('an encoding', { ...csv, 'content-encoding': 'br' }, 'url\n'),
  ];
}

/** The schema of settings of every protocol: those of probes, and the one that the control plane evaluates itself. */
function settingsOfProtocols(): readonly (readonly [string, z.ZodType])[] {
  return [
    ...protocols.map((protocol) => [protocol, checkTypeOf(protocol).settings()] as const),
    ['group', groupCheckSettings],
  ];
}

/** Some of the cases stand for the others where there are more: the test is to take seconds. */
const mostSettingsCases = 1_000;

/** Settings of every check type, from the type's own schema: other types, bounds and unknown settings. */
export function settingsCases(known: Known): readonly BadCase[] {
  // What many types have in common is tried with the first of them.
  const seen = new Set<string>();
  const cases = settingsOfProtocols().flatMap(([protocol, settings]) => {
    return variantsOf(describe(settings)).flatMap((variant) =>
      spoil(variant, [], known)
        .filter(({ at }) => at.length > 0)
        .flatMap(({ path, at, what, value }) => {
          const spoiled = withValue({}, at, value);
          // A null goes back to the default before the schema sees it.
          const top = (spoiled as Record<string, unknown>)[String(at[0])];
          const key = `${pointer(path)} ${what}`;
          if (seen.has(key)) return [];
          seen.add(key);
          const parsed = settings.safeParse(spoiled);
          // Rules over several settings may name another one of them.
          const isThis = parsed.error?.issues.some((issue) =>
            [...issue.path.slice(0, 1), ...(issue.code === 'unrecognized_keys' ? issue.keys : [])].includes(
              at[0] ?? '',
            ),
          );
          if (top === null || isThis !== true) return [];
          const body = {
            workspace_id: known['workspace_id'],
            name: 'settings',
            url: known['url'],
            protocol,
            settings: spoiled,
          };
          return [
            {
              method: 'POST',
              target: '/api/v1/monitors',
              headers: { 'content-type': 'application/json' },
              name: `settings of ${protocol}: ${pointer(path)} ${what}`,
              body: JSON.stringify(body),
              // The whole of a value may be judged at once, such as a text that is no regular expression.
              path: pointer(['settings', ...path.slice(0, 1)]),
              statuses: [422],
            },
          ];
        }),
    );
  });
  const step = Math.ceil(cases.length / mostSettingsCases);
  return cases.filter((_case, index) => index % step === 0);
}
