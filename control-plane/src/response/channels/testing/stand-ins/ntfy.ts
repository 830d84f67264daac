// Written from https://docs.ntfy.sh/publish/ (Publishing, Publish as JSON, Authentication, Limitations). Checked on 2026-11-23 against server/errors.go (numbers and
// sentences of errors) and server/server.go (transformBodyJSON: a body of JSON has at most twice the bytes of a message; an empty message is "triggered") of
// binwiederhier/ntfy. A 429 comes without `Retry-After` there.
import type { Must, SeenRequest, StandIn } from '../stand-in.ts';
import { hasOnly, isText, isWebAddress, jsonBody, objectsOf } from './parts.ts';

const topic = 'parallax-topic-89';
const token = 'tk_ntCredential89abcdefghijklmnop';
const fields = [
  'topic',
  'message',
  'title',
  'tags',
  'priority',
  'actions',
  'click',
  'attach',
  'markdown',
  'icon',
  'filename',
  'delay',
  'email',
  'call',
  'cache',
  'firebase',
  'sequence_id',
];
const refuse = (http: number, code: number, error: string) => ({
  status: http,
  json: { code, http, error, link: 'https://ntfy.sh/docs/publish/' },
});

export const ntfy: StandIn = {
  channel: 'ntfy',
  documents: ['https://docs.ntfy.sh/publish/'],
  settings: (baseUrl) => ({ server_url: baseUrl, access_token: token }),
  target: topic,
  handle: (request, must) => {
    must(request.headers['authorization'] === `Bearer ${token}`, 'the token as bearer');
    if (request.path === '/' || request.path === '') checkJson(request, must);
    else checkHeaders(request, must);
    return { status: 200, json: { id: 'sPs71M8A2TXA', time: 1_772_330_400, event: 'message', topic, message: 'x' } };
  },
  troubles: {
    refused_credentials: refuse(401, 40_101, 'unauthorized'),
    unknown_target: refuse(400, 40_010, 'invalid request: topic name is disallowed'),
    rate_limited: refuse(429, 42_901, 'limit reached: too many requests'),
    refused_message: refuse(413, 41_303, 'JSON body too large'),
    service_unavailable: { status: 503, text: '' },
  },
};

function checkJson(request: SeenRequest, must: Must): void {
  must(request.method === 'POST' || request.method === 'PUT', 'POST or PUT');
  const body = jsonBody(request, must);
  must(request.bytes.length <= 2 * 4096, 'a body of at most twice the bytes of a message');
  must(hasOnly(body, fields), 'known fields');
  must(body['topic'] === topic, 'the topic');
  must(
    typeof body['message'] === 'string' && Buffer.byteLength(body['message']) <= 4096,
    'a message of at most 4,096 bytes',
  );
  must(body['title'] === undefined || isText(body['title'], 1024), 'a title');
  const priority = body['priority'];
  must(priority === undefined || [1, 2, 3, 4, 5].includes(priority as number), 'a priority from 1 to 5');
  must(body['tags'] === undefined || Array.isArray(body['tags']), 'tags in a list');
  must(body['click'] === undefined || isWebAddress(body['click']), 'an address to open');
  const actions = objectsOf(body['actions']);
  must(actions.length <= 3, 'at most three actions');
  must(
    actions.every((one) => typeof one['label'] === 'string' && (one['action'] !== 'view' || isWebAddress(one['url']))),
    'actions with a label and an address',
  );
}

function checkHeaders(request: SeenRequest, must: Must): void {
  must(request.method === 'POST' || request.method === 'PUT', 'POST or PUT');
  must(request.path === `/${topic}`, 'the topic');
  must(request.bytes.length > 0 && request.bytes.length <= 4096, 'a message of at most 4,096 bytes');
  const priority = request.headers['x-priority'] ?? request.headers['priority'] ?? '3';
  must(/^([1-5]|min|low|default|high|max|urgent)$/.test(priority), 'a priority');
}
