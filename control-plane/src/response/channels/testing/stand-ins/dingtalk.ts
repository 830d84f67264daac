// Written from memory of https://open.dingtalk.com/document/robots/custom-robot-access (custom robots: messages, signature, error codes), which could
// not be read. Checked on 2026-11-23 against other senders that list its numbers with their meaning (310000, 400013, 400101, 400102, 400105, 400106), and
// reports of users: the form of the signature, 310000, 300001 and 300005 "token is not exist", 130101
// (https://github.com/ccfos/nightingale/issues/369), and 20,000 bytes (https://github.com/timonwong/prometheus-webhook-dingtalk/issues/30). 410100 is from
// memory.
import { createHmac } from 'node:crypto';
import type { StandIn } from '../stand-in.ts';
import { isText, jsonBody, objectOf } from './parts.ts';

const token = 'dingtalk-robot-credential-01';
const secret = 'SECdingtalkSigningCredential02';

/** A custom robot of DingTalk with an additional signature. Whatever it refuses, it answers 200 and a number. */
export const dingtalk: StandIn = {
  channel: 'dingtalk',
  documents: ['https://open.dingtalk.com/document/robots/custom-robot-access'],
  settings: (baseUrl) => ({
    destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}/robot/send?access_token=${token}`, secret }],
  }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/robot/send', 'POST /robot/send');
    must(request.query.get('access_token') === token, 'access_token');
    const timestamp = request.query.get('timestamp') ?? '';
    must(
      /^\d{13}$/.test(timestamp) && Math.abs(Number(timestamp) - Date.now()) < 3_600_000,
      'timestamp in milliseconds, at most an hour off',
    );
    const expected = createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64');
    must(
      request.query.get('sign') === expected,
      'sign: HMAC-SHA256 of time and secret in Base64, encoded for an address',
    );
    must(request.bytes.length <= 20_000, 'at most 20,000 bytes');
    const body = jsonBody(request, must);
    const type = body['msgtype'];
    must(type === 'text' || type === 'markdown' || type === 'actionCard' || type === 'link', 'msgtype');
    const part = objectOf(body[String(type)]);
    must(isText(type === 'text' ? part['content'] : part['text'], 20_000), 'its content');
    if (type !== 'text') must(isText(part['title'], 20_000), 'its title');
    must(objectOf(body['at'])['isAtAll'] !== true, 'nobody is called');
    return { status: 200, json: { errcode: 0, errmsg: 'ok' } };
  },
  troubles: {
    refused_credentials: { status: 200, json: { errcode: 310_000, errmsg: 'sign not match' } },
    unknown_target: { status: 200, json: { errcode: 300_005, errmsg: 'token is not exist' } },
    rate_limited: { status: 200, json: { errcode: 130_101, errmsg: 'send too fast, exceed 20 times per minute' } },
    refused_message: { status: 200, json: { errcode: 400_105, errmsg: 'unsupported msgtype' } },
    service_unavailable: { status: 200, json: { errcode: -1, errmsg: 'system busy' } },
  },
};
