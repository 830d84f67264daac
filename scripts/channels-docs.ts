// The text of docs/channels.md, from the registry of channels; a setting without a meaning is an error.
import { z } from 'zod';
import { deliveryErrorCodes } from '../control-plane/src/response/channels/delivery-error.ts';
import type { DeliveryErrorCode } from '../control-plane/src/response/channels/delivery-error.ts';
import { channels } from '../control-plane/src/response/channels/registry.ts';
import type { AnyChannel } from '../control-plane/src/response/channels/registry.ts';
import { templateFields } from '../control-plane/src/response/channels/template/fill-template.ts';
import { type Json, kindOf } from './checks-docs/schema.ts';

const meanings: Readonly<Record<DeliveryErrorCode, string>> = {
  address_denied: 'the address may not be reached from here (private, metadata, or the product itself)',
  dns_failed: 'the name has no address, or the name servers do not answer',
  connect_failed: 'nobody listens, or the connection was broken off',
  tls_failed: 'the certificate is not trusted, not of this name, or there is no safe version in common',
  timeout: 'no answer in time',
  answer_too_slow: 'an answer began and did not end in time',
  rate_limited: 'the service takes no more messages for the moment; what it asks to wait is kept',
  unexpected_status: 'a status that says neither yes nor no',
  unexpected_answer: 'an answer that cannot be read',
  redirected: 'a redirect, which is never followed: name the final address',
  refused_credentials: 'a token, key or password is not valid (any more): the configuration is switched off',
  unknown_target: 'the address, chat or number is gone or wrong: nothing more is sent to it',
  refused_message: 'the service did not take this message; the next one is tried',
  service_unavailable: 'the service is away for the moment',
  not_configured: 'the channel has no configuration, or one that is switched off',
  target_not_confirmed: 'the reader of a mail address has not agreed, or has unsubscribed',
  internal: 'a defect of the product',
};

function fieldRows(
  channel: AnyChannel,
  properties: Readonly<Record<string, Json>>,
  required: readonly string[],
  prefix = '',
): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const full = `${prefix}${name}`;
    const says = schema.description ?? (schema.const === undefined ? undefined : 'As it stands.');
    if (says === undefined) throw new Error(`The setting ${full} of ${channel.name} has no meaning: describe it.`);
    const marks = [
      ...(required.includes(name) ? ['needed'] : []),
      ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
      ...(channel.secrets.includes(full) ? ['never shown'] : []),
    ].join(', ');
    const row = `| \`${full}\` | ${cell(kindOf(schema))} | ${marks} | ${cell(says)} |`;
    const items = schema.items?.properties;
    if (schema.type !== 'array' || items === undefined) return [row];
    return [row, ...fieldRows(channel, items, schema.items?.required ?? [], `${full}[].`)];
  });
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
}

function section(channel: AnyChannel): string {
  const schema = z.toJSONSchema(channel.settings, { io: 'input', unrepresentable: 'any' }) as Json;
  const options = schema.anyOf ?? [schema];
  const tables = options.map((one) => {
    const rows = fieldRows(channel, one.properties ?? {}, one.required ?? []);
    if (rows.length === 0) return 'It has no settings.';
    return ['| setting | | | meaning |', '|---|---|---|---|', ...rows].join('\n');
  });
  const alias = channel.aliases ?? [];
  return [
    `## \`${channel.name}\`: ${channel.title}`,
    channel.setup,
    [
      `Target: ${channel.target.label}, such as \`${channel.target.example}\`.`,
      ...(alias.length > 0 ? [`Also accepted as ${alias.map((name) => `\`${name}\``).join(', ')}.`] : []),
      ...(channel.closes === true ? ['What it opens it closes again when the trouble is over.'] : []),
      ...(channel.baseUrl === undefined
        ? []
        : [`The service is at \`${channel.baseUrl}\`, which operators can replace.`]),
      ...(channel.documentation === null ? [] : [`[Documentation of the service](${channel.documentation}).`]),
    ].join(' '),
    tables.join('\n\nor\n\n'),
  ].join('\n\n');
}

function page(): string {
  return `# Alert channels

Written by \`npm run channels-docs\` from the registry, \`control-plane/src/response/channels/registry.ts\`; do not edit.

A user has one configuration for each channel (\`POST /api/v1/alert-channel-configs\`), and alerts name a channel, a configuration and a target. Credentials
are sealed in the database and never answered: in their place stands \`has_<name>\`. Where an address is the credential, settings hold \`destinations\`,
and targets name the key of one. In a change an absent key keeps, \`null\` clears, and another host drops the credentials that were stored for the old one.

\`\`\`sh
curl -sS "$URL/api/v1/alerts/channels/availability" -H "authorization: Bearer $TOKEN"    # which there are, and which you have configured
curl -sS "$URL/api/v1/alert-channel-configs" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"channel":"pushover","settings":{"api_token":"azGDORePK8gMaC0QOYAMyEEuzJnyUi"}}'
curl -sS "$URL/api/v1/alerts/test-send" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"channel":"pushover","target":"uQiRzpo4DXghDmr9QzzfQu27cmVRsG","config_id":1}'    # answers each step
\`\`\`

\`test-send\` also takes \`settings\` in place of \`config_id\`, and then saves nothing. An account may send ten tests an hour, three of them to one target
(\`channel_test\` and \`channel_test_to_target\` in limits.md). [alerts.md](alerts.md) says how alerts use channels.

Addresses that users name are reached only where the operator's address policy allows it; redirects are never followed, answers are read up to 64 KiB, and
a sending takes at most 10 s (30 s where a channel says so). A target that is gone is given up; a configuration is switched off when its credentials are
refused or ten messages in a row failed, and its owner is told by mail. \`POST …/activate\` switches it on again and forgets the failures.

Operators replace the address of a fixed service by \`PARALLAX_CHANNEL_BASE_URLS=pushover=https://push.example.com,ntfy=https://ntfy.example.com\`.

## Error codes

| code | meaning |
|---|---|
${deliveryErrorCodes.map((code) => `| \`${code}\` | ${meanings[code]} |`).join('\n')}

${channels.map(section).join('\n\n')}

## Templates of webhooks

A template may name these fields as \`{{name}}\`, escaped for the content type; \`{{json name}}\` is the value as JSON. What stands in a value is never read as a
placeholder. With \`application/json\` the filled template must be JSON: \`{"text": "{{title}}", "all": {{json data}}}\`.

| field | meaning |
|---|---|
${Object.entries(templateFields)
  .map(([name, meaning]) => `| \`${name}\` | ${cell(meaning)} |`)
  .join('\n')}

Without a template the body is JSON: \`type\` (\`alert.opened\` …), \`id\`, \`timestamp\`, \`subject_key\`, \`state\`, \`severity\`, \`title\`, \`summary\`, \`started_at\`,
\`ended_at\`, \`workspace\`, \`subjects\`, \`subject_count\`, \`links\`, \`data\`. Every message carries \`webhook-id\` and \`webhook-timestamp\`; with a secret also
\`webhook-signature\` after Standard Webhooks. \`webhook-id\` and \`id\` are the same at each attempt of one message and of no other one, of whatever
installation: receivers tell repetitions by them.
`;
}

export const text = page();
