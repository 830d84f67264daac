// Written from https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (Send Adaptive Cards) and
// https://adaptivecards.io/explorer/ (elements). Checked on 2026-11-23 against …/how-to/add-incoming-webhook (Create an Incoming Webhook: 28 KB, four requests a second),
// https://learn.microsoft.com/en-us/connectors/teams/ (Microsoft Teams connector: about 28 KB for what a workflow posts) and issue 11274 of MicrosoftDocs/msteams-docs (what
// counts is more than what is sent). The codes of errors were found in reports of those who met them (400 WorkflowTriggerIsNotEnabled and TriggerInputSchemaMismatch, 401
// DirectApiAuthorizationRequired), as Microsoft lists none. What a workflow answers to a card it cannot post is not documented: it takes the request with 202 and fails later.
import type { Must, StandIn } from '../stand-in.ts';
import { type Body, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';

const path = '/workflows/5f2b/triggers/manual/paths/invoke';
const query = '?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=tm-Signature-Credential-82';

export const teams: StandIn = {
  channel: 'teams',
  documents: [
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using',
  ],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: baseUrl + path + query }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the address of the workflow');
    must(request.query.get('sig') === 'tm-Signature-Credential-82', 'the signature of the address, unchanged');
    must(request.query.get('sp') === '/triggers/manual/run', 'the parameters of the address, unchanged');
    const body = jsonBody(request, must);
    must(body['type'] === 'message', 'type "message"');
    const attachments = objectsOf(body['attachments']);
    must(attachments.length === 1, 'one attachment');
    const [attachment] = attachments;
    must(attachment?.['contentType'] === 'application/vnd.microsoft.card.adaptive', 'an Adaptive Card');
    const card = objectOf(attachment?.['content']);
    must(Buffer.byteLength(JSON.stringify(JSON.stringify(card))) <= 28_672, 'a card that has at most 28 KB as a text');
    checkCard(card, must);
    return { status: 202 };
  },
  troubles: {
    // The signature of the address is wrong.
    refused_credentials: {
      status: 401,
      json: {
        error: {
          code: 'DirectApiAuthorizationRequired',
          message: 'The request must be authenticated only by OAuth authorization scheme.',
        },
      },
    },
    unknown_target: {
      status: 404,
      json: { error: { code: 'WorkflowNotFound', message: 'The workflow could not be found.' } },
    },
    rate_limited: {
      status: 429,
      headers: { 'retry-after': '7' },
      json: { error: { code: 'WorkflowRunActionThrottled' } },
    },
    refused_message: { status: 400, json: { error: { code: 'TriggerInputSchemaMismatch', message: 'Invalid type.' } } },
    service_unavailable: { status: 502, json: { error: { code: 'NoResponse' } } },
  },
  saysHowLong: true,
};

const elements = new Set([
  'TextBlock',
  'FactSet',
  'Container',
  'ColumnSet',
  'Column',
  'ActionSet',
  'RichTextBlock',
  'Table',
]);

function checkCard(card: Body, must: Must): void {
  must(card['type'] === 'AdaptiveCard', 'type "AdaptiveCard"');
  must(/^1\.[0-5]$/.test(String(card['version'])), 'a version that Teams shows (at most 1.5)');
  must(objectsOf(card['body']).length > 0, 'a body');
  for (const element of objectsOf(card['body'])) checkElement(element, must);
  const actions = objectsOf(card['actions']);
  must(actions.length <= 6, 'at most 6 actions');
  for (const action of actions) {
    must(action['type'] !== 'Action.OpenUrl' || isWebAddress(action['url']), 'an address to open');
    // A workflow answers to nobody: cards that ask something back are not taken.
    must(action['type'] !== 'Action.Submit' && action['type'] !== 'Action.Execute', 'no action that needs an answer');
  }
}

function checkElement(element: Body, must: Must): void {
  must(elements.has(String(element['type'])), `an element that is known: ${String(element['type'])}`);
  if (element['type'] === 'TextBlock') must(typeof element['text'] === 'string', 'a text');
  if (element['type'] === 'FactSet') {
    const facts = objectsOf(element['facts']);
    must(
      facts.length > 0 && facts.every(({ title, value }) => typeof title === 'string' && typeof value === 'string'),
      'facts',
    );
  }
  for (const inner of [...objectsOf(element['items']), ...objectsOf(element['columns'])]) checkElement(inner, must);
}
