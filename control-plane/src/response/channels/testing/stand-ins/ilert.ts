// Written from memory, checked on 2026-11-23 against the OpenAPI document of https://api.ilert.com/api-docs/#tag/Events ("Post an event to ilert",
// v2.2026.5: path, fields, required ones, 202) and the limits of https://docs.ilert.com/developer-docs/rest-api/alertsource-throttle (50 a minute by
// key, 429). The words of errors are from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';

const integrationKey = 'il1api0460d849fcdc753d4fcredential';

/** ilert's event API. */
export const ilert: StandIn = {
  channel: 'ilert',
  documents: ['https://api.ilert.com/api-docs/#tag/Events'],
  settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', integration_key: integrationKey }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && /^\/api(\/v1)?\/events(\/api\/[^/]+)?$/.test(request.path), 'POST /api/events');
    const body = jsonBody(request, must);
    const { eventType, summary, details, alertKey, priority, severity, links, labels, customDetails } = body;
    const isKeyed = body['integrationKey'] === integrationKey || request.path.endsWith(`/${integrationKey}`);
    must(isKeyed, 'integrationKey of the alert source');
    must(isOneOf(eventType, ['ALERT', 'ACCEPT', 'RESOLVE', 'COMMENT']), 'eventType');
    must(isText(summary, 10_000), 'summary');
    must(details === undefined || typeof details === 'string', 'details');
    must(isText(alertKey, 255), 'alertKey, by which accept and resolve find the alert');
    must(priority === undefined || priority === 'HIGH' || priority === 'LOW', 'priority: HIGH or LOW');
    must(
      severity === undefined || (Number.isInteger(severity) && Number(severity) >= 1 && Number(severity) <= 5),
      'severity 1 to 5',
    );
    must(
      objectsOf(links).every(({ href }) => isWebAddress(href)),
      'links have href',
    );
    must(
      Object.values(objectOf(labels)).every((value) => typeof value === 'string'),
      'labels are texts',
    );
    must(customDetails === undefined || objectOf(customDetails) === customDetails, 'customDetails is an object');
    return { status: 202, json: { responseCode: 'ACCEPTED', message: 'Event accepted' } };
  },
  troubles: {
    rate_limited: { status: 429, json: { status: 429, message: 'Too many requests', code: 'TOO_MANY_REQUESTS' } },
    refused_message: { status: 400, json: { status: 400, message: 'The summary is missing', code: 'BAD_REQUEST' } },
    service_unavailable: { status: 503, text: '' },
  },
};
