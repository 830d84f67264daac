// Checked on 2026-11-23 against https://pushover.net/api (Pushover Message API: the address and the list of parameters; the rest of that page could not be read). In its clients
// were read: the lengths and the X-Limit-App-* headers with seconds since the epoch (gregdel/pushover), that a 4xx names the parameter and is not tried again, and
// cancel_by_tag (healthchecks/healthchecks). The sentences about tokens and users stand in
// tests of clients as the service said them; those of a rate and of a message are from memory.
import type { StandIn } from '../stand-in.ts';
import { isText, isWebAddress } from './parts.ts';

const token = 'azPoCredential91abcdefghijklmn';
const user = 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG';
const refuse = (errors: readonly string[], more: object) => ({
  status: 400,
  json: { ...more, errors, status: 0, request: '647d2300-702c-4b38-8b2f-d56326ae460b' },
});
const names = new Set([
  'token',
  'user',
  'message',
  'title',
  'attachment_base64',
  'attachment_type',
  'device',
  'html',
  'monospace',
  'priority',
  'sound',
  'timestamp',
  'ttl',
  'url',
  'url_title',
  'retry',
  'expire',
  'callback',
  'tags',
]);

export const pushover: StandIn = {
  channel: 'pushover',
  documents: ['https://pushover.net/api'],
  settings: () => ({ api_token: token, emergency: true }),
  target: user,
  handle: (request, must) => {
    must(request.method === 'POST', 'POST');
    if (/^\/1\/receipts\/cancel_by_tag\/[^/]+\.json$/.test(request.path)) {
      must(request.form.get('token') === token, 'the token');
      return { status: 200, json: { status: 1, request: 'e460545a8b333d0da2f3602aff3133d7', canceled: 1 } };
    }
    must(request.path === '/1/messages.json', '/1/messages.json');
    const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
    const entries = isJson ? Object.entries(request.json ?? {}) : [...request.form];
    const given = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
    must(
      Object.keys(given).every((name) => names.has(name)),
      'known parameters',
    );
    must(given['token'] === token && given['user'] === user, 'token and user');
    must(isText(given['message'], 1024), 'a message of at most 1,024 characters');
    must(given['title'] === undefined || isText(given['title'], 250), 'a title of at most 250 characters');
    must(
      given['url'] === undefined || (isWebAddress(given['url']) && isText(given['url'], 512)),
      'an address of at most 512 characters',
    );
    must(
      given['url_title'] === undefined || isText(given['url_title'], 100),
      'a title of the address of at most 100 characters',
    );
    const priority = Number(given['priority'] ?? 0);
    must([-2, -1, 0, 1, 2].includes(priority), 'a priority from -2 to 2');
    if (priority === 2) {
      must(Number(given['retry']) >= 30, 'with priority 2 a retry of at least 30 seconds');
      must(Number(given['expire']) > 0 && Number(given['expire']) <= 10_800, 'and an end of at most 3 hours');
    }
    must(given['timestamp'] === undefined || /^\d{10}$/.test(given['timestamp']), 'a time in seconds');
    must(given['html'] !== '1' || given['monospace'] !== '1', 'HTML or monospace, not both');
    const receipt = priority === 2 ? { receipt: 'rxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' } : {};
    return { status: 200, json: { status: 1, request: 'e460545a8b333d0da2f3602aff3133d6', ...receipt } };
  },
  troubles: {
    refused_credentials: refuse(['application token is invalid, see https://pushover.net/api'], { token: 'invalid' }),
    unknown_target: refuse(
      ['user identifier is not a valid user, group, or subscribed user key, see https://pushover.net/api#identifiers'],
      { user: 'invalid' },
    ),
    // The messages of the month are used up.
    rate_limited: () => ({
      status: 429,
      headers: {
        'x-limit-app-limit': '10000',
        'x-limit-app-remaining': '0',
        'x-limit-app-reset': String(Math.floor(Date.now() / 1000) + 8),
      },
      json: { status: 0, errors: ['application is over its message limit'], request: 'x' },
    }),
    refused_message: refuse(['message cannot be blank'], { message: 'cannot be blank' }),
    service_unavailable: { status: 500, text: '' },
  },
  saysHowLong: true,
};
