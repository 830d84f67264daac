import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import { escapeHtml } from '../../messages/index.ts';
import type { Channel, IncomingResponse, TargetRule } from '../channel.ts';
import { secretText, webAddress } from '../setting-shapes.ts';
import { bytes } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup, plain } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  notFoundByProxy,
  rateLimited,
  refusal,
  refusedCredentials,
  refusedMessage,
  secondsToMs,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Matrix';

const settings = z.strictObject({
  homeserver_url: webAddress.describe('Address of the homeserver, such as https://matrix.example.org.'),
  access_token: secretText(1000).describe('Access token of the account that sends.'),
});
type Settings = z.infer<typeof settings>;

/** A room by its id: `!` and what the server gave, with the server's name in rooms before version 12. */
const room: TargetRule<Settings> = {
  label: 'room id (room settings, "Advanced"); the account must have joined the room',
  example: '!AbCdEfGhIjKlMnOpQr:example.org',
  parse: (text) => {
    const target = text.trim();
    if (/^![\x21-\x7e]{1,254}$/.test(target) && !/[/?#\\]/.test(target)) return { ok: true, target };
    return { ok: false, problem: 'a room id begins with "!"; the name that begins with "#" may move to another room' };
  },
  mask: (target) => `${target.slice(0, 4)}…${target.includes(':') ? target.slice(target.indexOf(':')) : ''}`,
  // Ids of rooms are the same on all homeservers.
  reaches: (target) => target,
};

/** An event may have 65,536 bytes with all that servers add; both forms of the text and their escapes in JSON stay well below. */
const mostBytes = 12_000;

/**
 * Matrix by the client-server API. The transaction is the message's id, so the homeserver sends a repetition once. Empty mentions keep text from being
 * searched for names ("intentional mentions"). Rooms with encryption take what is sent, but show it as not encrypted.
 */
export const matrix: Channel<Settings> = {
  name: 'matrix',
  title: service,
  documentation: 'https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid',
  setup:
    'Make an account for alerts on your homeserver, take its access token (in Element: "All settings", "Help & About", "Advanced"), and let the account join ' +
    'the room.',
  settings,
  secrets: ['access_token'],
  target: room,
  render: (message) => ({
    msgtype: 'm.text',
    body: layOut(message, plain, mostBytes, {}, bytes),
    format: 'org.matrix.custom.html',
    formatted_body: htmlOf(message),
    'm.mentions': {},
  }),
  send: async (content, { settings, target, message }, io) => {
    const { homeserver_url, access_token } = settings;
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(target)}/send/m.room.message/${encodeURIComponent(message.id)}`;
    const answer = await io.request({
      method: 'PUT',
      url: `${homeserver_url.replace(/\/+$/, '')}${path}`,
      headers: { authorization: `Bearer ${access_token}` },
      body: content,
      secrets: [access_token],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'event_id'));
    const detail = fieldOf(answer, 'error');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer) ?? notFoundByProxy(answer, typeof fieldOf(answer, 'errcode') === 'string'),
      detail,
      secrets: [access_token],
      now: io.now(),
    });
  },
};

/** The standard error codes ("Standard error response"). A 403 is about the room, as a token that is no longer known is a 401. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  switch (fieldOf(answer, 'errcode')) {
    case 'M_FORBIDDEN':
    case 'M_GUEST_ACCESS_FORBIDDEN':
    case 'M_NOT_FOUND':
      return unknownTarget;
    case 'M_UNKNOWN_TOKEN':
    case 'M_MISSING_TOKEN':
    case 'M_USER_DEACTIVATED':
    case 'M_USER_SUSPENDED':
    case 'M_USER_LOCKED':
      return refusedCredentials;
    case 'M_LIMIT_EXCEEDED': {
      const ms = fieldOf(answer, 'retry_after_ms');
      return { ...rateLimited, retryAfterMs: secondsToMs(typeof ms === 'number' ? ms / 1000 : undefined) };
    }
    case 'M_TOO_LARGE':
      return refusedMessage;
    default:
      return undefined;
  }
}

const html: Markup = {
  escape: escapeHtml,
  title: (text) => `<strong>${escapeHtml(text)}</strong>`,
  heading: (text) => `<strong>${escapeHtml(text)}</strong>`,
  fact: (label, value) => `<strong>${escapeHtml(label)}:</strong> ${escapeHtml(value)}`,
  link: ({ label, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
};

function htmlOf(message: Message): string {
  return layOut(message, html, mostBytes, {}, (text) => bytes(text.replaceAll('\n', '<br>'))).replaceAll('\n', '<br>');
}
