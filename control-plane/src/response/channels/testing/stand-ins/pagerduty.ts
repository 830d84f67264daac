// Written from memory, checked on 2026-11-23 against "Events API v2 Overview" and "Send an Alert Event"
// (https://github.com/PagerDuty/developer-docs, docs/events-API-v2: fields, lengths, statuses, 512 KB), the OpenAPI document of the Events API V2
// (https://github.com/PagerDuty/api-schema: the answers' fields), and for the words of errors https://github.com/envato/pagerduty/issues/70 and
// https://github.com/robusta-dev/robusta/issues/571.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, isTime, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';

const routingKey = 'pd3c1f0a9b8e7d6c5b4a39281706f5e4';

/** PagerDuty's Events API v2. A key that no integration has is an invalid event to it, told by the words of its error. */
export const pagerduty: StandIn = {
  channel: 'pagerduty',
  documents: ['https://developer.pagerduty.com/docs/send-alert-event'],
  settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', routing_key: routingKey }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/v2/enqueue', 'POST /v2/enqueue');
    const body = jsonBody(request, must);
    const { routing_key, event_action: action, dedup_key, links, client_url } = body;
    must(routing_key === routingKey, 'routing_key of the integration, of 32 letters and digits');
    must(isOneOf(action, ['trigger', 'acknowledge', 'resolve']), 'event_action: trigger, acknowledge, resolve');
    must(isText(dedup_key, 255), 'dedup_key of at most 255 characters, which only a trigger may leave out');
    must(request.bytes.length <= 512 * 1024, 'at most 512 KB');
    if (action === 'trigger') {
      const { summary, source, severity, timestamp } = objectOf(body['payload']);
      must(isText(summary, 1024), 'payload.summary of at most 1,024 characters');
      must(isText(source, 1024), 'payload.source');
      must(isOneOf(severity, ['critical', 'error', 'warning', 'info']), 'payload.severity');
      must(timestamp === undefined || isTime(timestamp), 'payload.timestamp in ISO 8601');
    }
    must(client_url === undefined || isWebAddress(client_url), 'client_url');
    must(links === undefined || Array.isArray(links), 'links is a list');
    must(
      objectsOf(links).every(({ href }) => isWebAddress(href)),
      'links have href',
    );
    return { status: 202, json: { status: 'success', message: 'Event processed', dedup_key } };
  },
  troubles: {
    refused_credentials: {
      status: 400,
      json: { status: 'invalid event', message: 'Event object is invalid', errors: ['Invalid routing key'] },
    },
    rate_limited: {
      status: 429,
      json: { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly.' },
    },
    refused_message: {
      status: 400,
      json: { status: 'invalid event', message: 'Event object is invalid', errors: ["'payload.severity' is invalid"] },
    },
    service_unavailable: { status: 500, text: '' },
  },
};
