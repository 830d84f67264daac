import { z } from 'zod';
import { patternProblem } from './keyword.ts';

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
/** Headers that frame the message or rule the connection: they are this program's to write. */
const reserved = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Headers that carry credentials by their nature. They are moved to `secret_headers`, wherever they were written. */
const credential = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'x-auth-token']);

const headers = z
  .record(
    z.string().regex(token, 'A header name has letters, digits and -.'),
    // What a header may carry without ambiguity: printable Latin-1 and tabs.
    z
      .string()
      .max(8192)
      .regex(/^[\t\x20-\x7e\xa0-\xff]*$/, 'A header value has no control characters and no characters beyond Latin-1.'),
  )
  .refine((all) => Object.keys(all).length <= 64, 'At most 64 headers.')
  .refine((all) => Object.keys(all).every((name) => !reserved.has(name.toLowerCase())), {
    message: `These headers are written by the check itself: ${[...reserved].join(', ')}.`,
  });

const keyword = z.union([
  z.string().min(1).max(1024),
  z
    .strictObject({
      /** RE2 syntax. */
      pattern: z.string().min(1).max(256),
      ignore_case: z.boolean().default(false),
    })
    .superRefine((value, context) => {
      const problem = patternProblem(value);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, path: ['pattern'] });
    }),
]);

const statusRange = z.union([
  z.int().min(100).max(599),
  z
    .string()
    .regex(/^([1-5]\d\d|[1-5]\d\d-[1-5]\d\d|[1-5]xx)$/i, 'A status such as 200, a range such as 200-299, or 2xx.'),
]);

/** Settings of `http` and `https`. */
export const httpSettings = z
  .strictObject({
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    headers: headers.default({}),
    /** Headers whose values are secret. */
    secret_headers: headers.default({}),
    body: z
      .string()
      .max(64 * 1024)
      .optional(),
    /** Codes and ranges that count as good. */
    expected_status: z.array(statusRange).min(1).max(32).default(['200-399']),
    /** Must occur in the first 1 MiB of the body. */
    keyword: keyword.optional(),
    /** Must not occur in it. */
    keyword_absent: keyword.optional(),
    verify_tls: z.boolean().default(true),
    follow_redirects: z.boolean().default(true),
    /** Basic authentication. */
    username: z
      .string()
      .max(256)
      .regex(/^[^:\p{Cc}]*$/u, 'A user name has no colon and no control characters.')
      .optional(),
    password: z
      .string()
      .max(1024)
      .regex(/^\P{Cc}*$/u, 'A password has no control characters.')
      .optional(),
    bearer_token: z
      .string()
      .max(8192)
      .regex(/^[\x21-\x7e]+$/, 'A bearer token has printable ASCII characters only.')
      .optional(),
    /** Days before the end of the certificate from which on the check warns; 0 switches it off. */
    warn_days_before_expiry: z.int().min(0).max(365).default(14),
    ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
    /** Authorities in PEM form to trust instead of the public ones. */
    ca_certificates: z
      .string()
      .max(64 * 1024)
      .regex(/-----BEGIN CERTIFICATE-----/, 'Certificates are written in PEM form.')
      .optional(),
  })
  .refine((all) => all.bearer_token === undefined || all.username === undefined, {
    message: 'Give a user name or a bearer token, not both.',
    path: ['bearer_token'],
  })
  .refine((all) => all.method !== 'HEAD' || (all.keyword === undefined && all.keyword_absent === undefined), {
    message: 'A HEAD request has no body to look for a keyword in.',
    path: ['keyword'],
  })
  .overwrite((all) => {
    const moved = Object.keys(all.headers).filter((name) => credential.has(name.toLowerCase()));
    if (moved.length === 0) return all;
    const open = Object.fromEntries(Object.entries(all.headers).filter(([name]) => !moved.includes(name)));
    const secret = Object.fromEntries(moved.map((name) => [name, all.headers[name] ?? '']));
    return { ...all, headers: open, secret_headers: { ...secret, ...all.secret_headers } };
  });
export type HttpSettings = z.infer<typeof httpSettings>;

export type StatusExpectation = HttpSettings['expected_status'];

/** One flag per status, made once for each list: the list belongs to parsed settings and does not change. */
const flags = new WeakMap<StatusExpectation, Uint8Array>();

/** Whether a status is among the codes and ranges. */
export function statusExpected(status: number, expected: StatusExpectation): boolean {
  let table = flags.get(expected);
  if (table === undefined) {
    table = new Uint8Array(1000);
    for (const each of expected) {
      const [from, to] = boundsOf(each);
      table.fill(1, from, to + 1);
    }
    flags.set(expected, table);
  }
  return table[status] === 1;
}

function boundsOf(each: StatusExpectation[number]): readonly [number, number] {
  if (typeof each === 'number') return [each, each];
  if (/xx$/i.test(each)) return [Number(each[0]) * 100, Number(each[0]) * 100 + 99];
  const [from = 0, to = from] = each.split('-').map(Number);
  return [from, to];
}
