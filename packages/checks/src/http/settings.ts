import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { credentialFields, headerFields, keywordField, withHiddenCredentials } from './fields.ts';
import { addressFields, clientPairProblem, trustFields } from '../net/connection-settings.ts';
import { jsonQueryField } from './json-query.ts';
import { maxRedirects, methods } from './request.ts';

/** Largest body that is read, and so the largest that bounds can be put on. */
const maxBodyBytes = 1024 * 1024;

const statusRange = lazily(() =>
  z.union([
    z.int().min(100).max(599),
    z
      .string()
      .regex(/^([1-5]\d\d|[1-5]\d\d-[1-5]\d\d|[1-5]xx)$/i, 'A status such as 200, a range such as 200-299, or 2xx.'),
  ]),
);

const tokenUrl = lazily(() =>
  z
    .string()
    .max(2048)
    .refine((text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    }, 'A token endpoint is a URL with http:// or https:// and without user information.'),
);

/** Visible ASCII and spaces, as RFC 6749 has it for identifiers, secrets and scopes. */
const oauthText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x20-\x7e]+$/, 'Printable ASCII characters only.');

/** Settings of `http` and `https`. */
export const httpSettings = lazily(() =>
  z
    .strictObject({
      method: z.enum(methods).default('GET'),
      headers: headerFields().default({}),
      /** Headers whose values are secret. */
      secret_headers: headerFields().default({}),
      body: z
        .string()
        .max(64 * 1024)
        .optional(),
      /** Codes and ranges that count as good. */
      expected_status: z.array(statusRange()).min(1).max(32).default([usualStatus]),
      /** Must occur in the first 1 MiB of the body. */
      keyword: keywordField().optional(),
      /** Must not occur in it. */
      keyword_absent: keywordField().optional(),
      /** What the body, read as JSON, must say. */
      json_query: jsonQueryField().optional(),
      /** Bytes that the body must have at least, as it was transferred: without chunked coding, before it is inflated. */
      min_body_bytes: z.int().min(0).max(maxBodyBytes).optional(),
      /** Bytes that it may have at most. */
      max_body_bytes: z.int().min(0).max(maxBodyBytes).optional(),
      /** HTTP version that the server must answer with. */
      expected_http_version: z.enum(['1.0', '1.1']).optional(),
      follow_redirects: z.boolean().default(true),
      /** Redirects that are followed before it counts as a failure. */
      max_redirects: z.int().min(0).max(maxRedirects).default(maxRedirects),
      /** Where the redirects must have led: the whole URL, or a pattern that occurs in it. */
      expected_final_url: keywordField().optional(),
      ...credentialFields(),
      /** How user name and password are proven: sent along (RFC 7617), or by answering the server's challenge (RFC 7616). */
      auth_scheme: z.enum(['basic', 'digest']).default('basic'),
      /** Where a bearer token is fetched first, with the client's own credentials (OAuth 2, RFC 6749, 4.4). */
      token_url: tokenUrl().optional(),
      client_id: oauthText(512).optional(),
      client_secret: oauthText(2048).optional(),
      scope: oauthText(2048).optional(),
      /** Sent along for servers that ask for it. */
      audience: oauthText(2048).optional(),
      /** How the client shows who it is at the token endpoint: in a header, or in the form. */
      client_authentication: z.enum(['header', 'form']).default('header'),
      /** Authorities in PEM form to trust at the token endpoint instead of the public ones. */
      token_ca_certificates: trustFields().ca_certificates,
      ...trustFields(),
      ...addressFields(),
    })
    .superRefine((all, context) => {
      const say = (path: string, message: string | undefined) =>
        message !== undefined && context.addIssue({ code: 'custom', path: [path], message });
      const ways = [all.username, all.bearer_token, all.token_url].filter((each) => each !== undefined);
      if (ways.length > 1)
        say('bearer_token', 'Give a user name, a bearer token or a token endpoint, only one of them.');
      if (all.auth_scheme === 'digest' && all.username === undefined)
        say('username', 'Digest authentication needs a user name.');
      if (all.token_url !== undefined && (all.client_id === undefined || all.client_secret === undefined))
        say('client_id', 'A token endpoint needs client_id and client_secret.');
      if (all.token_url === undefined && (all.client_id !== undefined || all.client_secret !== undefined))
        say('token_url', 'client_id and client_secret are for a token endpoint; give token_url.');
      if (all.method === 'HEAD' && (all.keyword ?? all.keyword_absent ?? all.json_query) !== undefined)
        say('keyword', 'A HEAD request has no body to look for a keyword or a value in.');
      if (all.method === 'HEAD' && all.min_body_bytes !== undefined)
        say('min_body_bytes', 'A HEAD request has no body.');
      if ((all.min_body_bytes ?? 0) > (all.max_body_bytes ?? maxBodyBytes))
        say('max_body_bytes', 'max_body_bytes is not below min_body_bytes.');
      say('client_key', clientPairProblem(all));
    })
    .overwrite(withHiddenCredentials),
);
export type HttpSettings = z.infer<ReturnType<typeof httpSettings>>;

export type StatusExpectation = HttpSettings['expected_status'];

/** One flag per status, made once for each list: the list belongs to parsed settings and does not change. */
const flags = new WeakMap<StatusExpectation, Uint8Array>();
/** What nearly all monitors expect: a table of a kilobyte each would be a third of what a monitor weighs. */
const usualStatus = '200-399';
const usualFlags = flagsOf([usualStatus]);

/** Whether a status is among the codes and ranges. */
export function statusExpected(status: number, expected: StatusExpectation): boolean {
  const isUsual = expected.length === 1 && expected[0] === usualStatus;
  let table = isUsual ? usualFlags : flags.get(expected);
  if (table === undefined) {
    table = flagsOf(expected);
    flags.set(expected, table);
  }
  return table[status] === 1;
}

function flagsOf(expected: StatusExpectation): Uint8Array {
  const table = new Uint8Array(1000);
  for (const each of expected) {
    const [from, to] = boundsOf(each);
    table.fill(1, from, to + 1);
  }
  return table;
}

function boundsOf(each: StatusExpectation[number]): readonly [number, number] {
  if (typeof each === 'number') return [each, each];
  if (/xx$/i.test(each)) return [Number(each[0]) * 100, Number(each[0]) * 100 + 99];
  const [from = 0, to = from] = each.split('-').map(Number);
  return [from, to];
}
