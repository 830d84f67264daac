// Written from memory of https://docs.gitlab.com/operations/incident_management/integrations/ ("Customize the alert payload outside of GitLab",
// "Request types"). Read on 2026-11-23: its beginning, and in a guide of a user the names of the fields, the severities and the header. Answers and
// lengths are from memory.
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
    return { status: 201, json: [] };
  },
  troubles: {
    refused_credentials: { status: 401, text: '' },
    unknown_target: { status: 404, text: '' },
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 400, text: '' },
    service_unavailable: { status: 503, text: '' },
  },
};
