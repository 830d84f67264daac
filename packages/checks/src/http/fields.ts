import { z } from 'zod';
import { lazily } from '../lazily.ts';
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

/** Own headers of a request. */
export const headerFields = lazily(() =>
  z
    .record(
      z.string().regex(token, 'A header name has letters, digits and -.'),
      // What a header may carry without ambiguity: printable Latin-1 and tabs.
      z
        .string()
        .max(8192)
        .regex(
          /^[\t\x20-\x7e\xa0-\xff]*$/,
          'A header value has no control characters and no characters beyond Latin-1.',
        ),
    )
    .refine((all) => Object.keys(all).length <= 64, 'At most 64 headers.')
    .refine((all) => Object.keys(all).every((name) => !reserved.has(name.toLowerCase())), {
      message: `These headers are written by the check itself: ${[...reserved].join(', ')}.`,
    }),
);

/** What is looked for: text, or a pattern. */
export const keywordField = lazily(() =>
  z.union([
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
  ]),
);

/** Who asks, by a user name and password or by a token, in fields of their own. */
export const credentialFields = lazily(() => ({
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
}));

/** Whether a header carries credentials by its nature. */
export function isCredentialHeader(name: string): boolean {
  return credential.has(name.toLowerCase());
}

type WithHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  readonly secret_headers: Readonly<Record<string, string>>;
};

/** Moves headers that carry credentials to the secret ones. */
export function withHiddenCredentials<All extends WithHeaders>(all: All): All {
  const moved = Object.keys(all.headers).filter(isCredentialHeader);
  if (moved.length === 0) return all;
  const open = Object.fromEntries(Object.entries(all.headers).filter(([name]) => !moved.includes(name)));
  const secret = Object.fromEntries(moved.map((name) => [name, all.headers[name] ?? '']));
  return { ...all, headers: open, secret_headers: { ...secret, ...all.secret_headers } };
}
