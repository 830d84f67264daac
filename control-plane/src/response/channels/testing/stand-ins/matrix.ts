// Written from https://spec.matrix.org/latest/client-server-api/ (PUT …/rooms/{roomId}/send/{eventType}/{txnId}; m.text; standard error response; rate limiting). Checked on
// 2026-11-23: the first against matrix-org/matrix-spec, data/api/client-server/room_send.yaml; names of errors against ruma-client-api (ErrorKind).
import type { StandIn } from '../stand-in.ts';
import { isText, jsonBody, textOf } from './parts.ts';

const room = '!stand-in86:example.org';
const token = 'syt_mxCredential86_abcdef';

export const matrix: StandIn = {
  channel: 'matrix',
  documents: ['https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid'],
  settings: (baseUrl) => ({ homeserver_url: baseUrl, access_token: token }),
  target: room,
  handle: (request, must) => {
    const [, prefix, id, type, transaction] =
      /^(\/_matrix\/client\/v3)\/rooms\/([^/]+)\/send\/([^/]+)\/([^/]+)$/.exec(request.path) ?? [];
    must(request.method === 'PUT' && prefix !== undefined, 'PUT …/rooms/{roomId}/send/{eventType}/{txnId}');
    must(decodeURIComponent(id ?? '') === room && type === 'm.room.message', 'the room, and m.room.message');
    must((transaction ?? '').length > 0, 'a transaction id');
    must(request.headers['authorization'] === `Bearer ${token}`, 'the token as bearer');
    must(request.query.get('access_token') === null, 'no token in the address');
    const body = jsonBody(request, must);
    must(request.bytes.length <= 65_536, 'an event of at most 64 KiB');
    must(body['msgtype'] === 'm.text' || body['msgtype'] === 'm.notice', 'm.text or m.notice');
    must(isText(body['body'], 65_536), 'a body of text');
    const formatted = body['formatted_body'];
    must(
      formatted === undefined || (typeof formatted === 'string' && body['format'] === 'org.matrix.custom.html'),
      'HTML that is called so',
    );
    must(!/<(script|img|iframe|style)\b/i.test(textOf(formatted)), 'HTML without what clients must not show');
    return { status: 200, json: { event_id: '$YUwRidLecu:example.org' } };
  },
  troubles: {
    refused_credentials: {
      status: 401,
      json: { errcode: 'M_UNKNOWN_TOKEN', error: 'Unrecognised access token.', soft_logout: false },
    },
    // The bot is not in the room, or was thrown out.
    unknown_target: {
      status: 403,
      json: { errcode: 'M_FORBIDDEN', error: `User @bot:example.org not in room ${room}` },
    },
    rate_limited: {
      status: 429,
      headers: { 'retry-after': '7' },
      json: { errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', retry_after_ms: 7000 },
    },
    refused_message: { status: 413, json: { errcode: 'M_TOO_LARGE', error: 'event too large' } },
    service_unavailable: { status: 502, text: 'Bad Gateway' },
  },
  saysHowLong: true,
};
