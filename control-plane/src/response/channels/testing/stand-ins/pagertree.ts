// Written from memory of https://pagertree.com/docs/integration-guides/webhook (Webhook Integration), which could not be read. Checked on 2026-11-23
// against other senders, Apprise (https://github.com/caronc/apprise: address, the three types, fields, urgencies, and what 402, 403, 404, 405 and 429
// mean), Uptime Kuma and LibreNMS. The length of a title is from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, jsonBody } from './parts.ts';

const path = '/integration/int_pagertreeCredential9';

/** PagerTree's webhook integration. Examples write `Id` and `Title` with capitals and newer ones without, so either is taken here. */
export const pagertree: StandIn = {
  channel: 'pagertree',
  documents: ['https://pagertree.com/docs/integration-guides/webhook'],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}${path}` }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the endpoint of the integration');
    const body = jsonBody(request, must);
    const fields = Object.fromEntries(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
    const { event_type: type, id, title, description, urgency } = fields;
    must(
      type === 'create' || type === 'acknowledge' || type === 'resolve',
      'event_type: create, acknowledge or resolve',
    );
    must(isText(id, 255), 'Id, by which it is acknowledged and resolved');
    if (type === 'create') must(isText(title, 255), 'Title of at most 255 characters');
    must(description === undefined || typeof description === 'string', 'Description');
    must(urgency === undefined || isOneOf(urgency, ['silent', 'low', 'medium', 'high', 'critical']), 'Urgency');
    return { status: 201, json: {} };
  },
  troubles: {
    // Blocked, or not paid for (402).
    refused_credentials: { status: 403, text: '' },
    unknown_target: { status: 404, text: '' },
    rate_limited: { status: 429, text: '' },
    refused_message: { status: 400, text: '' },
    service_unavailable: { status: 503, text: '' },
  },
};
