// Written from memory of https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot (custom bots: messages, signature verification, error codes).
// Checked on 2026-11-23 against the beginning of the same page (https://open.larkoffice.com/document/ukTMukTMukTM/ucTM5YjL3ETO24yNxkjN: 100 messages a
// minute, 5 a second, 20 KB, 11232), and in reports of users the signature, the answer of success, 9499, 19001, 19021, 19022 and 19024.
import { createHmac } from 'node:crypto';
import type { StandIn } from '../stand-in.ts';
import { isText, jsonBody, objectOf } from './parts.ts';

const path = '/open-apis/bot/v2/hook/feishu-hook-credential-03';
const secret = 'feishuSigningCredential04';

/** A custom bot of Feishu or Lark with signature verification. */
export const feishu: StandIn = {
  channel: 'feishu',
  documents: ['https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot'],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}${path}`, secret }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the webhook');
    must(request.bytes.length <= 20 * 1024, 'at most 20 KB');
    const body = jsonBody(request, must);
    const timestamp = String(body['timestamp']);
    must(
      /^\d{10}$/.test(timestamp) && Math.abs(Number(timestamp) * 1000 - Date.now()) < 3_600_000,
      'timestamp in seconds, at most an hour off',
    );
    const expected = createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64');
    must(body['sign'] === expected, 'sign: HMAC-SHA256 of nothing under time and secret, in Base64');
    const type = body['msg_type'];
    must(type === 'text' || type === 'post' || type === 'interactive', 'msg_type: text, post or interactive');
    if (type === 'interactive') must(Object.keys(objectOf(body['card'])).length > 0, 'card');
    else if (type === 'text') must(isText(objectOf(body['content'])['text'], 20_000), 'content.text');
    else must(Object.keys(objectOf(objectOf(body['content'])['post'])).length > 0, 'content.post');
    return { status: 200, json: { StatusCode: 0, StatusMessage: 'success', code: 0, data: {}, msg: 'success' } };
  },
  troubles: {
    refused_credentials: {
      status: 200,
      json: { code: 19_021, msg: 'sign match fail or timestamp is not within one hour from current time' },
    },
    unknown_target: {
      status: 200,
      json: { code: 19_001, msg: 'param invalid: incoming webhook access token invalid' },
    },
    rate_limited: {
      status: 200,
      json: { code: 11_232, msg: 'frequency limited psm[lark.oapi.app_platform_runtime]appID[1500]' },
    },
    refused_message: { status: 200, json: { code: 9499, msg: 'Bad Request', data: {} } },
    service_unavailable: { status: 500, text: '' },
  },
};
