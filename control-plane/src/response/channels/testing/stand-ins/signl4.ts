// Written from memory, checked on 2026-11-23 against https://docs.signl4.com/integrations/webhook/webhook.html (address, parameters, scenarios),
// https://www.signl4.com/outbound-webhooks/ (the answer's eventId) and the senders of Apprise and Uptime Kuma; `acknowledged` stands in SIGNL4's guide
// for Freshservice. What it refuses is from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, jsonBody } from './parts.ts';

const secret = 'signl4teamcredential';

/** SIGNL4's inbound webhook: any fields, and those that control begin with X-S4. */
export const signl4: StandIn = {
  channel: 'signl4',
  documents: ['https://docs.signl4.com/integrations/webhook/webhook.html'],
  settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', team_secret: secret }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === `/webhook/${secret}`, 'POST /webhook/ and the team secret');
    const body = jsonBody(request, must);
    const status = body['X-S4-Status'];
    must(isText(body['X-S4-ExternalID'], 1000), 'X-S4-ExternalID, by which it is resolved');
    must(
      status === undefined || isOneOf(status, ['new', 'acknowledged', 'resolved']),
      'X-S4-Status: new, acknowledged, resolved',
    );
    const scenario = body['X-S4-AlertingScenario'];
    must(
      scenario === undefined || isOneOf(scenario, ['single_ack', 'multi_ack', 'emergency']),
      'X-S4-AlertingScenario',
    );
    if (status === undefined || status === 'new')
      must(isText(body['Title'] ?? body['title'] ?? body['Subject'], 10_000), 'Title');
    return { status: 201, json: { eventId: '2518000000000000000_signl4-event' } };
  },
  troubles: {
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 400, text: '' },
    service_unavailable: { status: 500, text: '' },
  },
};
