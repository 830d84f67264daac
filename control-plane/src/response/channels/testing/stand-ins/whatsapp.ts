// Written from https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes (Error codes) and …/whatsapp/cloud-api/guides/send-message-templates.
// Checked on 2026-11-23 against the beginning of the first (go by `code`; the form of an error), and for the codes against copies of its table in
// AlexSzefezuk/meta-whatsapp-error-codes-pt-br and MarcosNicolau/whatsapp-business-sdk. Statuses beside the codes are from memory.
import type { StandIn } from '../stand-in.ts';
import { type Body, isText, jsonBody, objectOf, objectsOf } from './parts.ts';

const token = 'EAAwaCredential95abcdefghijklmnop';
const sender = '106540352242922';
const recipient = '+15550051310';
const refuse = (status: number, code: number, message: string, details = message) => ({
  status,
  json: {
    error: {
      message: `(#${code}) ${message}`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'A',
    },
  },
});

export const whatsapp: StandIn = {
  channel: 'whatsapp',
  documents: [
    'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
    'https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-message-templates',
  ],
  settings: () => ({
    access_token: token,
    phone_number_id: sender,
    template_name: 'alert_down',
    template_language: 'en',
  }),
  target: recipient,
  handle: (request, must) => {
    must(
      request.method === 'POST' && /^(\/v\d{1,2}\.\d)?\/106540352242922\/messages$/.test(request.path),
      'POST /v…/{phone number id}/messages',
    );
    must(request.headers['authorization'] === `Bearer ${token}`, 'the token as bearer');
    const body = jsonBody(request, must);
    must(body['messaging_product'] === 'whatsapp', 'messaging_product "whatsapp"');
    must(String(body['to']).replace(/^\+/, '') === recipient.slice(1), 'the number');
    must(
      body['recipient_type'] === undefined || body['recipient_type'] === 'individual',
      'recipient_type "individual"',
    );
    if (body['type'] === 'template') checkTemplate(objectOf(body['template']), must);
    else
      must(
        (body['type'] ?? 'text') === 'text' && isText(objectOf(body['text'])['body'], 4096),
        'a text of at most 4,096 characters',
      );
    return {
      status: 200,
      json: {
        messaging_product: 'whatsapp',
        contacts: [{ input: recipient, wa_id: recipient.slice(1) }],
        messages: [{ id: 'wamid.HBgLMTU1NTA' }],
      },
    };
  },
  troubles: {
    refused_credentials: refuse(401, 190, 'Access token has expired'),
    unknown_target: refuse(400, 131_026, 'Message undeliverable', 'Message Undeliverable.'),
    rate_limited: refuse(429, 130_429, 'Rate limit hit'),
    refused_message: refuse(400, 132_000, 'Number of parameters does not match the expected number of params'),
    service_unavailable: refuse(503, 2, 'API Service'),
  },
};

function checkTemplate(template: Body, must: (holds: boolean, what: string) => void): void {
  must(template['name'] === 'alert_down', 'the template by its name');
  must(objectOf(template['language'])['code'] === 'en', 'and its language');
  for (const component of objectsOf(template['components'])) {
    must(['header', 'body', 'button'].includes(String(component['type'])), 'a known part');
    for (const parameter of objectsOf(component['parameters'])) {
      const text = parameter['text'];
      must(parameter['type'] === 'text' && isText(text, 1024), 'parameters of text');
      // 132018 / 100: parameters with these are not taken.
      must(
        !/[\n\t]| {5,}/.test(String(text)),
        'parameters without line breaks, tabs and more than four spaces in a row',
      );
    }
  }
}
