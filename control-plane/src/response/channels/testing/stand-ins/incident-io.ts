// Written from memory, checked on 2026-11-23 against https://api-docs.incident.io/tag/Alert-Events-V2 and
// https://docs.incident.io/api-reference/alert-events-v2/createhttp (path, fields, the two states, the key that newer sources want, Markdown, 202),
// https://docs.incident.io/api-reference/introduction (bodies of errors, of 429 too), and for Bearer and 512 KB Prometheus Alertmanager.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, isWebAddress, jsonBody, objectOf } from './parts.ts';

const token = 'incident-io-source-credential';
const sourceId = '01GW2G3V0S59R238FAHPDS1R66';
const request_id = '631766c4-4afd-4803-997c-cd700928fa4b';

/** incident.io's alert events of an HTTP source. */
export const incidentIo: StandIn = {
  channel: 'incident-io',
  documents: ['https://api-docs.incident.io/tag/Alert-Events-V2'],
  settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', alert_source_config_id: sourceId, token }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === `/v2/alert_events/http/${sourceId}`, 'POST to the source');
    must(request.headers['authorization'] === `Bearer ${token}`, 'Authorization: Bearer and the token');
    const body = jsonBody(request, must);
    const { title, status, description, deduplication_key, source_url, metadata } = body;
    must(request.bytes.length <= 512 * 1024, 'at most 512 KB');
    must(
      hasOnly(body, ['title', 'status', 'description', 'deduplication_key', 'source_url', 'metadata']),
      'known fields',
    );
    must(isText(title, 10_000), 'title');
    must(status === 'firing' || status === 'resolved', 'status: firing or resolved');
    must(description === undefined || typeof description === 'string', 'description');
    must(isText(deduplication_key, 1000), 'deduplication_key, by which firing and resolved are one alert');
    must(source_url === undefined || isWebAddress(source_url), 'source_url');
    must(metadata === undefined || objectOf(metadata) === metadata, 'metadata is an object');
    return { status: 202, json: { deduplication_key, message: 'Event accepted for processing', status: 'success' } };
  },
  troubles: {
    refused_credentials: {
      status: 401,
      json: {
        type: 'authentication_error',
        status: 401,
        request_id,
        errors: [{ code: 'unauthenticated', message: 'bad credentials' }],
      },
    },
    unknown_target: {
      status: 404,
      json: {
        type: 'not_found',
        status: 404,
        request_id,
        errors: [{ code: 'not_found', message: 'Resource could not be found' }],
      },
    },
    rate_limited: () => ({
      status: 429,
      json: {
        type: 'too_many_requests',
        status: 429,
        request_id,
        // Of whole seconds, so that it is seven to eight seconds away.
        rate_limit: { name: 'api_key_name', limit: 1200, remaining: 0, retry_after: inUtc(Date.now() + 8000) },
        errors: [{ code: 'too_many_requests', message: 'Too many requests. We recommend exponential backoff.' }],
      },
    }),
    refused_message: {
      status: 422,
      json: {
        type: 'validation_error',
        status: 422,
        request_id,
        errors: [{ code: 'is_required', message: 'A value is required', source: { field: 'title' } }],
      },
    },
    service_unavailable: { status: 500, text: '' },
  },
  saysHowLong: true,
};

/** `Thu, 17 Apr 2025 11:17:18 UTC`. */
function inUtc(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', 'UTC');
}
