// Written from memory, checked on 2026-11-23 against "REST API" (https://developers.home-assistant.io/docs/api/rest/: "POST
// /api/services/<domain>/<service>", which answers when it has acted or after 10 seconds) and the source of https://github.com/home-assistant/core
// (components api, notify, webhook: 400 of data that do not fit and of an action that is not there, templates, what a webhook answers). Fields of
// https://companion.home-assistant.io/docs/notifications/notifications-basic/ are from memory.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, jsonBody, objectOf } from './parts.ts';

const token = 'home-assistant-long-lived-credential';

/** Home Assistant's REST API: a notify action, called with a long-lived access token. */
export const homeAssistant: StandIn = {
  channel: 'home-assistant',
  documents: ['https://developers.home-assistant.io/docs/api/rest/'],
  settings: (baseUrl) => ({ url: baseUrl, token }),
  target: 'notify.mobile_app_phone',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/api/services/notify/mobile_app_phone', 'POST to the action');
    must(request.headers['authorization'] === `Bearer ${token}`, 'Authorization: Bearer and the token');
    const body = jsonBody(request, must);
    must(hasOnly(body, ['message', 'title', 'target', 'data']), 'what a notify action knows');
    must(isText(body['message'], 100_000), 'message');
    must(body['title'] === undefined || typeof body['title'] === 'string', 'title');
    must(body['data'] === undefined || objectOf(body['data']) === body['data'], 'data is an object');
    return { status: 200, json: [] };
  },
  troubles: {
    refused_credentials: { status: 401, text: '401: Unauthorized' },
    refused_message: { status: 400, text: '400: Bad Request' },
    service_unavailable: { status: 502, text: 'Bad Gateway' },
  },
};
