import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import {
  radiusCodeName,
  radiusCodes,
  radiusNonce,
  radiusRequest,
  type RadiusReply,
  readRadiusReply,
} from './radius/packet.ts';

/** Settings of `radius`. */
export const radiusSettings = lazily(() =>
  z.strictObject({
    /** `access`: a user logs in; `status`: the server only says that it is there (RFC 5997). */
    request: z.enum(['access', 'status']).default('access'),
    /** What server and probe share; the check cannot run without it. */
    secret: z.string().min(1).max(256).optional(),
    username: z.string().min(1).max(63).optional(),
    /** Sent as PAP; 128 octets are what the attribute can carry. */
    password: z
      .string()
      .max(128)
      .refine((text) => Buffer.byteLength(text) <= 128, 'A password has at most 128 octets.')
      .optional(),
    /** Who the check says it is (NAS-Identifier). */
    nas_identifier: z.string().min(1).max(63).default('parallax'),
    /** What the server has to say; `any`: every answer under the right secret will do. */
    expected_reply: z.enum(['accept', 'reject', 'challenge', 'any']).default('accept'),
    /** Refuse answers without a Message-Authenticator, which could have been forged (RFC 3579). */
    require_message_authenticator: z.boolean().default(false),
    ...addressFields(),
  }),
);
export type RadiusSettings = z.infer<ReturnType<typeof radiusSettings>>;

const expectedCodes = {
  accept: radiusCodes.accessAccept,
  reject: radiusCodes.accessReject,
  challenge: radiusCodes.accessChallenge,
} as const;

/** A RADIUS server: what it answers a login with. */
export const radius = conversation({
  type: 'radius',
  summary: 'A RADIUS server: Access-Request or Status-Server',
  reference: {
    targets: ['radius.example.com', 'radius.example.com:1812'],
    settings: { secret: '…', username: 'probe', password: '…' },
    phases: ['dns', 'first_byte'],
    details: {
      reply: 'Kind of the answer.',
      message_authenticator: 'Whether the answer is protected by a Message-Authenticator.',
      reply_message: 'What the server says to the user.',
    },
  },
  settings: radiusSettings,
  secretFields: ['secret'],
  peer: 'a RADIUS server',
  codes: 'radius_protocol',
  target: { plain: { radius: 1812, udp: 1812 } },
  problem: (_target, { secret, request, username, password }) => {
    if (secret === undefined) return 'A RADIUS server is asked with a secret.';
    if (request === 'access' && (username === undefined || password === undefined))
      return 'An access request needs a username and a password.';
    return undefined;
  },
  talk: async (session, settings) => {
    const { secret = '', username = '', password = '' } = settings;
    const request = {
      ...radiusNonce(),
      code: settings.request === 'access' ? radiusCodes.accessRequest : radiusCodes.statusServer,
      nasIdentifier: settings.nas_identifier,
      login: settings.request === 'access' ? { username, password } : undefined,
    };
    await session.locate();
    const reply = await session.ask({
      message: radiusRequest(request, secret),
      accept: (bytes) => readRadiusReply(bytes, request, secret),
      silent: timedOut(
        'response_timeout',
        `No answer from ${session.where} in time; a server does not answer a wrong secret or an unknown client either.`,
      ),
    });
    session.note('reply', radiusCodeName(reply.code));
    session.note('message_authenticator', reply.hasMessageAuthenticator);
    if (reply.replyMessage !== undefined) session.note('reply_message', reply.replyMessage);
    session.demand(judge(reply, settings, session.where));
  },
});

function judge(reply: RadiusReply, settings: RadiusSettings, where: string): Failure | undefined {
  if (reply.trust === 'forged') return failed('radius_secret', `The answer of ${where} was not made with this secret.`);
  if (settings.require_message_authenticator && !reply.hasMessageAuthenticator)
    return failed('radius_protocol', `The answer of ${where} carries no Message-Authenticator.`);
  // RFC 5997, section 4.2: the accounting port has an answer of its own to Status-Server.
  const isAlive = settings.request === 'status' && reply.code === radiusCodes.accountingResponse;
  if (isAlive && (settings.expected_reply === 'accept' || settings.expected_reply === 'any')) return undefined;
  const name = radiusCodeName(reply.code);
  const known = Object.values(expectedCodes).some((code) => code === reply.code);
  if (!known) return failed('radius_protocol', `${where} answered with ${name}, which is no answer to a login.`);
  const expected = settings.expected_reply;
  if (expected === 'any' || expectedCodes[expected] === reply.code) return undefined;
  if (reply.code === radiusCodes.accessReject) return failed('radius_reject', `${where} rejected the login (${name}).`);
  return failed(
    'response_mismatch',
    `${where} answered ${name}; expected is ${radiusCodeName(expectedCodes[expected])}.`,
  );
}
