// Written from memory, checked on 2026-11-23 against https://pagertree.com/docs/integration-guides/webhook (Webhook Integration: the three types, fields,
// the optional token), PagerTree's source of it (https://github.com/PagerTree/pager_tree-integrations, webhook/v3.rb of 2025-12-20: header of the token,
// names without regard to case, urgencies, dedup_keys), and Apprise for what 402, 403, 404, 405 and 429 mean. The length of a title is from memory.
import type { StandIn } from '../stand-in.ts';
import { isOneOf, isText, jsonBody } from './parts.ts';

const token = 'pagertreeTokenCredential10';
const path = '/integration/int_pagertreeCredential9';

/** PagerTree's webhook integration, with a token. Examples write `Id` and `Title` with capitals, and its source reads names in lower case. */
export const pagertree: StandIn = {
  channel: 'pagertree',
  documents: ['https://pagertree.com/docs/integration-guides/webhook'],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}${path}`, token }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the endpoint of the integration');
    must(request.headers['pagertree-token'] === token, 'pagertree-token');
    const body = jsonBody(request, must);
    const fields = Object.fromEntries(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
    const { event_type: type, id, title, description, urgency, tags, dedup_keys: keys } = fields;
    must(
      type === 'create' || type === 'acknowledge' || type === 'resolve',
      'event_type: create, acknowledge or resolve',
    );
    must(isText(id, 255), 'Id, by which it is acknowledged and resolved');
    if (type === 'create') must(isText(title, 255), 'Title of at most 255 characters');
    if (type === 'create') must(isText(description, 100_000), 'Description, which is not empty');
    const isList = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
    must(tags === undefined || isList(tags), 'Tags: a list of texts');
    must(type !== 'create' || isList(keys), 'dedup_keys, by which alerts are one');
    must(urgency === undefined || isOneOf(urgency, ['low', 'medium', 'high', 'critical']), 'Urgency');
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
