// Written from memory, checked on 2026-11-23 against "REST Endpoint integration for Splunk On-Call"
// (https://help.splunk.com/splunk-observability-cloud/splunk-on-call/integrations-with-splunk-on-call/rest-endpoint-integration-for-splunk-on-call), its
// forerunner "VictorOps: REST Endpoint" (https://help.victorops.com/knowledge-base/victorops-restendpoint-integration/: fields, times in seconds),
// "Incident fields glossary" (https://docs.splunk.com/observability/en/sp-oncall/alerts/incident-fields-glossary.html: the five types, of which INFO
// opens nothing), and Prometheus Alertmanager (address, 20,480 characters). Answers of failure are from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isOptionalText, isText, jsonBody } from './parts.ts';

const apiKey = '558e7ebc-oncall-credential';

/** The REST endpoint of Splunk On-Call. Its page shows one answer of success and none of failure, so statuses are all that is known of the rest. */
export const splunkOncall: StandIn = {
  channel: 'splunk-oncall',
  documents: [
    'https://help.splunk.com/splunk-observability-cloud/splunk-on-call/integrations-with-splunk-on-call/rest-endpoint-integration-for-splunk-on-call',
  ],
  settings: () => ({ api_key: apiKey }),
  target: 'database',
  handle: (request, must) => {
    must(request.method === 'POST', 'POST');
    must(
      request.path === `/integrations/generic/20131114/alert/${apiKey}/database`,
      'the address with key and routing key',
    );
    const { message_type, entity_id, entity_display_name, state_message, state_start_time } = jsonBody(request, must);
    const types = ['CRITICAL', 'WARNING', 'ACKNOWLEDGEMENT', 'INFO', 'RECOVERY'];
    must(isOneOf(message_type, types), `message_type is one of ${types.join(', ')}`);
    must(isText(entity_id, 512), 'entity_id of at most 512 characters');
    must(entity_display_name === undefined || typeof entity_display_name === 'string', 'entity_display_name');
    must(isOptionalText(state_message, 20_480), 'state_message of at most 20,480 characters');
    must(
      state_start_time === undefined || Number.isInteger(state_start_time),
      'state_start_time in seconds since the epoch',
    );
    return { status: 200, json: { result: 'success', entity_id } };
  },
  troubles: {
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 400, json: { result: 'failure', message: 'message_type is missing' } },
    service_unavailable: { status: 503, text: '' },
  },
};
