// Written from memory, checked on 2026-11-23 against "Integrations" (https://docs.gitlab.com/operations/incident_management/integrations/: fields,
// severities, Bearer, 200 and the list of alerts, an end by end_time) and the source of https://github.com/gitlabhq/gitlabhq (400, 401 and 403; it cuts
// title, description, service, tool and hosts by itself).
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isOptionalText, isText, isTime, jsonBody } from './parts.ts';

const key = 'gitlab-alert-key-credential';
const path = '/acme/shop/alerts/notify/parallax/8e4f2b7c6d5a4938.json';

/** The HTTP endpoint of a project's alerting integration. */
export const gitlabAlert: StandIn = {
  channel: 'gitlab-alert',
  documents: ['https://docs.gitlab.com/operations/incident_management/integrations/'],
  settings: (baseUrl) => ({
    destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}${path}`, authorization_key: key }],
  }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the webhook URL');
    must(request.headers['authorization'] === `Bearer ${key}`, 'Authorization: Bearer and the key');
    const { title, description, start_time, end_time, service, monitoring_tool, hosts, severity, fingerprint } =
      jsonBody(request, must);
    must(isText(title, 200), 'title, which an alert keeps 200 characters of');
    must(isOptionalText(description, 1000), 'description, which an alert keeps 1,000 characters of');
    must(start_time === undefined || isTime(start_time), 'start_time');
    must(end_time === undefined || isTime(end_time), 'end_time');
    must(service === undefined || typeof service === 'string', 'service');
    must(monitoring_tool === undefined || typeof monitoring_tool === 'string', 'monitoring_tool');
    must(hosts === undefined || typeof hosts === 'string' || Array.isArray(hosts), 'hosts');
    const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'];
    must(severity === undefined || isOneOf(severity, severities), `severity: ${severities.join(', ')}`);
    must(isText(fingerprint, 1000), 'fingerprint, by which alerts are one');
    return { status: 200, json: [{ iid: 1, title }] };
  },
  troubles: {
    refused_credentials: { status: 401, text: '' },
    unknown_target: { status: 404, text: '' },
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 400, text: '' },
    service_unavailable: { status: 503, text: '' },
  },
};
