// Written from memory, checked on 2026-11-23 against https://developers.squadcast.com/incoming-webhooks/payload-format/ and
// https://support.squadcast.com/integrations/incident-webhook-incident-webhook-api (fields, of which message and description are mandatory, tags, priority,
// 413 above 30 KB, an end by event_id). Statuses other than 413 are from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, jsonBody, objectOf } from './parts.ts';

const path = '/v2/incidents/api/squadcast-service-credential';

/** Squadcast's incident webhook. The page names one refusal: what is over 30 KB is a 413. */
export const squadcast: StandIn = {
  channel: 'squadcast',
  documents: ['https://developers.squadcast.com/incoming-webhooks/payload-format/'],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}${path}` }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the address of the service');
    must(request.bytes.length <= 30 * 1024, 'at most 30 KB');
    const { message, description, status, event_id, priority, tags } = jsonBody(request, must);
    must(status === 'trigger' || status === 'resolve', 'status: trigger or resolve');
    must(isText(event_id, 1000), 'event_id, by which it is resolved');
    if (status === 'trigger') must(isText(message, 30_000) && isText(description, 30_000), 'message and description');
    must(priority === undefined || isOneOf(priority, ['P1', 'P2', 'P3', 'P4', 'P5']), 'priority P1 to P5');
    const isTag = (tag: unknown) => typeof tag === 'string' || typeof objectOf(tag)['value'] === 'string';
    must(tags === undefined || Object.values(objectOf(tags)).every(isTag), 'tags: a text, or colour and value');
    return { status: 202, text: '' };
  },
  troubles: {
    unknown_target: { status: 404, text: '' },
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 413, text: '' },
    service_unavailable: { status: 503, text: '' },
  },
};
