import { z } from 'zod';
import { signalWords } from './heartbeats.ts';
import { route } from './route.ts';
import type { RouteContract } from './route.ts';

/** Bytes of a body that are kept; told in `Ping-Body-Limit`. */
export const pingBodyBytes = 10_000;

const tag = 'Pings';
const mebibyte = 1_048_576;
/**
 * A signal counts whatever its body is. Up to a mebibyte is read for `duration_ms` and `payload`, as far as there is memory for long bodies. An endless one is
 * read to one byte more, which tells that there is more.
 */
const bytes = { keptBytes: mebibyte, certainBytes: pingBodyBytes, readBytes: mebibyte + 1 };
/** The body of a push monitor says nothing. */
const passedOver = { keptBytes: pingBodyBytes, readBytes: mebibyte };

const text = z.string().max(300);
/** Whatever else stands in a query is passed over: clients send what they like. */
const signalQuery = z.object({
  rid: z
    .union([text, z.array(text)])
    .optional()
    .describe('A UUID that pairs the start and the end of a run; anything else is passed over with a warning.'),
  create: z
    .union([text, z.array(text)])
    .optional()
    .describe('`1`: makes the heartbeat when there is none with this slug, expected daily with an hour of grace.'),
});

/** What whoever asks for JSON is answered. */
export const pingTakenSchema = z
  .object({ ok: z.literal(true), created: z.boolean().describe('This signal has made its heartbeat.') })
  .meta({ id: 'PingTaken' });
export type PingTaken = z.output<typeof pingTakenSchema>;

const answers = 'The answer is text; `Accept: application/json` gets `{"ok": true, "created": false}`.';

const ok = {
  status: 200,
  answer: z.string().meta({ examples: ['OK'] }),
  contentType: 'text/plain; charset=utf-8',
  others: { 'application/json': pingTakenSchema },
} as const;
const alternative = { status: 201, description: 'the heartbeat was made by this signal (`create=1`)' } as const;
const errors = [404, 429];

const meanings: Readonly<Record<string, string>> = {
  start: 'A run begins.',
  success:
    'A run has ended well. `duration_ms` and `payload` of a JSON body of up to 1 MiB are kept, a payload of up to 10,000 bytes.',
  fail: 'A run has failed; the alarm does not wait for a deadline.',
  log: 'Something to be kept with the signals; changes nothing else.',
  keepalive: 'A run goes on: its maximum run time counts anew.',
};

const ofSlug = z.object({ ping_key: text, slug: text });
const secretText =
  'Carries the secret in `X-Secret`, unless the heartbeat takes signals without it. A wrong secret and what is unknown are answered alike.';

const methods = ['GET', 'POST'] as const;

/** Signals by ping key and slug. */
const bySlug = methods.flatMap((method): RouteContract[] => [
  route({
    method,
    path: '/api/v1/ping/:ping_key/:slug',
    credentials: 'none',
    tag,
    summary: 'Record a ping',
    description: `A run has ended well. Takes HEAD too. ${answers}`,
    params: ofSlug,
    query: signalQuery,
    ...(method === 'POST' ? { bytes } : {}),
    success: ok,
    alternative,
    errors,
  }),
  ...signalWords.map((word) =>
    route({
      method,
      path: `/api/v1/ping/:ping_key/:slug/${word}`,
      credentials: 'secret-header',
      tag,
      summary: `Record a signal: ${word}`,
      description: `${meanings[word] ?? ''} ${secretText} ${answers}`,
      params: ofSlug,
      query: signalQuery,
      ...(method === 'POST' ? { bytes } : {}),
      success: ok,
      alternative,
      errors,
    }),
  ),
  route({
    method,
    path: '/api/v1/ping/:ping_key/:slug/:exit_code',
    credentials: 'secret-header',
    tag,
    summary: 'Record the exit code of a run',
    description: `0 is a success, 1 to 255 a failure. ${secretText} ${answers}`,
    params: ofSlug.extend({ exit_code: text }),
    query: signalQuery,
    ...(method === 'POST' ? { bytes } : {}),
    success: ok,
    alternative,
    errors,
  }),
]);

/** The paths of Healthchecks: `/ping/{uuid}`, `/ping/{uuid}/{signal}`, `/ping/{ping key}/{slug}` and `/ping/{ping key}/{slug}/{signal}`. */
const likeHealthchecks = methods.flatMap((method): RouteContract[] =>
  [
    { path: '/ping/:uuid', params: z.object({ uuid: text }), summary: 'Record a ping by uuid' },
    {
      path: '/ping/:place/:signal',
      params: z.object({ place: text, signal: text }),
      summary: 'Record a signal by uuid, or a ping by ping key and slug',
    },
    {
      path: '/ping/:ping_key/:slug/:signal',
      params: ofSlug.extend({ signal: text }),
      summary: 'Record a signal by ping key and slug',
    },
  ].map(({ path, params, summary }) =>
    route({
      method,
      path,
      credentials: 'none',
      tag,
      summary,
      description: `As clients of Healthchecks send them. A uuid is itself the secret; by slug, a signal may need \`X-Secret\`. ${answers}`,
      params,
      query: signalQuery,
      ...(method === 'POST' ? { bytes } : {}),
      success: ok,
      alternative,
      errors,
    }),
  ),
);

/** Push monitors of Uptime Kuma. */
const likeKuma = methods.map((method) =>
  route({
    method,
    path: '/api/push/:token',
    credentials: 'none',
    tag,
    summary: 'Record a signal of a push monitor',
    description: 'As clients of Uptime Kuma send it, for push monitors that were imported. `status=down` is a failure.',
    params: z.object({ token: text }),
    query: z.object({
      status: z.union([text, z.array(text)]).optional(),
      msg: z.union([z.string(), z.array(z.string())]).optional(),
      ping: z
        .union([text, z.array(text)])
        .optional()
        .describe('Milliseconds.'),
    }),
    ...(method === 'POST' ? { bytes: passedOver } : {}),
    success: { status: 200, answer: z.object({ ok: z.boolean() }).meta({ id: 'PushTaken' }) },
    errors,
  }),
);

/** Every route by which signals come. */
export const pingRoutes: readonly RouteContract[] = [...bySlug, ...likeHealthchecks];
export const pushRoutes: readonly (typeof likeKuma)[number][] = likeKuma;
