// Written from memory of https://docs.opsgenie.com/docs/alert-api and of
// https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/ (Jira Service Management). Checked on 2026-11-23
// against https://docs.opsgenie.com/docs/response (statuses, 402 too), https://docs.opsgenie.com/docs/api-rate-limiting and the OpenAPI document of
// Opsgenie (429 and its headers; lengths), https://docs.opsgenie.com/docs/alerts-and-alert-fields (lengths, tags), Atlassian's Postman collection "JSM
// Operations API" (address, GenieKey), the same fields in other senders to it, and JSDCLOUD-14179 (identifierType=alias at Atlassian). The words of
// errors, and that Jira Service Management throttles by the same headers, are from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isOptionalText, isText, jsonBody, objectOf } from './parts.ts';

const apiKey = 'genie-7f3b2c19-key-credential';
const requestId = '43a29c5c-3dbf-4fa4-9c26-f4f71023e120';

/** The alert API of Opsgenie and of what came after it: the same bodies below another path. */
function genie(channel: string, below: string, documents: readonly string[]): StandIn {
  return {
    channel,
    documents,
    settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', api_key: apiKey }] }),
    target: 'ops',
    handle: (request, must) => {
      must(request.method === 'POST', 'POST');
      must(request.headers['authorization'] === `GenieKey ${apiKey}`, 'Authorization: GenieKey and the key');
      const body = jsonBody(request, must);
      must(isOptionalText(body['source'], 100), 'source of at most 100 characters');
      must(isOptionalText(body['user'], 100), 'user of at most 100 characters');
      must(isOptionalText(body['note'], 25_000), 'note of at most 25,000 characters');
      const [identifier, action, ...rest] = request.path.slice(below.length + 1).split('/');
      must(request.path === below || request.path.startsWith(`${below}/`), `a path of ${below}`);
      if (request.path === below) {
        const { message, alias, description, tags, entity, priority, details } = body;
        must(isText(message, 130), 'message of at most 130 characters');
        must(isText(alias, 512), 'alias of at most 512 characters');
        must(isOptionalText(description, 15_000), 'description of at most 15,000 characters');
        must(isOptionalText(entity, 512), 'entity of at most 512 characters');
        must(priority === undefined || isOneOf(priority, ['P1', 'P2', 'P3', 'P4', 'P5']), 'priority P1 to P5');
        const isListed = Array.isArray(tags) && tags.length <= 20 && tags.every((tag) => isText(tag, 50));
        must(tags === undefined || isListed, 'at most 20 tags of 50 characters');
        const size = Object.entries(objectOf(details)).join('').length;
        must(
          size <= 8000 && Object.values(objectOf(details)).every((value) => typeof value === 'string'),
          'details: texts, 8,000 together',
        );
      } else {
        must((identifier ?? '') !== '' && rest.length === 0, 'an identifier');
        must(['close', 'acknowledge', 'notes'].includes(action ?? ''), 'close, acknowledge or notes');
        must(request.query.get('identifierType') === 'alias', 'identifierType=alias, as the identifier is one');
        if (action === 'notes') must(isText(body['note'], 25_000), 'note');
      }
      return { status: 202, json: { result: 'Request will be processed', took: 0.302, requestId } };
    },
    troubles: {
      refused_credentials: { status: 401, json: { message: 'Could not authenticate', took: 0.001, requestId } },
      rate_limited: {
        status: 429,
        headers: { 'x-ratelimit-state': 'THROTTLED', 'x-ratelimit-period-in-sec': '7' },
        json: { message: 'You are making too many requests!', took: 0.001, requestId },
      },
      refused_message: {
        status: 422,
        json: {
          message: 'Request body is not processable. Please check the errors.',
          errors: { message: 'Message can not be empty.' },
          took: 0.08,
          requestId,
        },
      },
      service_unavailable: { status: 503, text: '' },
    },
    saysHowLong: true,
  };
}

export const opsgenie = genie('opsgenie', '/v2/alerts', ['https://docs.opsgenie.com/docs/alert-api']);

export const jiraServiceManagement = genie('jira-service-management', '/jsm/ops/integration/v2/alerts', [
  'https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/',
]);
