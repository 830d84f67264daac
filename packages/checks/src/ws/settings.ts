import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { credentialFields, headerFields, keywordField, withHiddenCredentials } from '../http/fields.ts';
import { addressFields, clientPairProblem, trustFields } from '../net/connection-settings.ts';
import { isHex } from '../net/payload.ts';

const ownHeaders = headerFields().refine((all) => Object.keys(all).every((name) => !/^sec-websocket-/i.test(name)), {
  message: 'Headers that begin with Sec-WebSocket- are written by the check itself; use the setting subprotocols.',
});

/** Settings of `ws` and `wss`: without `send` and `expect` the upgrade is enough. */
export const wsSettings = lazily(() =>
  z
    .strictObject({
      headers: ownHeaders.default({}),
      /** Headers whose values are secret. */
      secret_headers: ownHeaders.default({}),
      ...credentialFields(),
      /** Offered in this order; the server has to choose one of them. */
      subprotocols: z
        .array(z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/, 'A subprotocol is a token such as graphql-ws.'))
        .max(8)
        .default([]),
      /** Sent as one message after the upgrade. */
      send: z.string().min(1).max(16_384).optional(),
      /** Must occur in one of the first messages that come back. */
      expect: keywordField().optional(),
      /** How `send` and `expect` are written; `hex` is sent as a binary message. */
      payload_format: z.enum(['text', 'hex']).default('text'),
      ...trustFields(),
      ...addressFields(),
    })
    .superRefine((all, context) => {
      const say = (path: string, message: string | undefined) =>
        message !== undefined && context.addIssue({ code: 'custom', path: [path], message });
      if (all.username !== undefined && all.bearer_token !== undefined)
        say('bearer_token', 'Give a user name or a bearer token, not both.');
      const payloads = [all.send, all.expect].filter((each) => each !== undefined);
      if (all.payload_format === 'hex' && !payloads.every((each) => typeof each === 'string' && isHex(each)))
        say('payload_format', 'With payload_format hex, send and expect are pairs of hexadecimal digits.');
      say('client_key', clientPairProblem(all));
    })
    .overwrite(withHiddenCredentials),
);
export type WsSettings = z.infer<ReturnType<typeof wsSettings>>;
