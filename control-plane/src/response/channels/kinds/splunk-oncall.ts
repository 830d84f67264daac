import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf, pageOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, refusal, refusedMessage } from './shared/refusal.ts';

const title = 'Splunk On-Call';

const settings = z.strictObject({
  api_key: secretText(200).describe(
    'The part of the address of the integration "REST - Generic" that stands between "/alert/" and "/$routing_key".',
  ),
});

const messageTypes = { critical: 'CRITICAL', error: 'CRITICAL', warning: 'WARNING', info: 'INFO' } as const;

/** REST endpoint (formerly VictorOps). Incidents go by `entity_id`; what they do not say of lengths is held low here. */
export const splunkOncall: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'splunk-oncall',
  aliases: ['victorops'],
  title,
  documentation:
    'https://help.splunk.com/splunk-observability-cloud/splunk-on-call/integrations-with-splunk-on-call/rest-endpoint-integration-for-splunk-on-call',
  setup:
    'In Splunk On-Call open "Integrations", "3rd Party Integrations", "REST - Generic" and enable it; the key is in the address that is shown. The target is a routing key from "Settings", "Routing Keys".',
  settings,
  secrets: ['api_key'],
  target: {
    label: 'routing key',
    example: 'database',
    parse: (text) => {
      const target = text.trim();
      if (/^[A-Za-z0-9._~-]{1,100}$/.test(target)) return { ok: true, target };
      return { ok: false, problem: 'a routing key has 1 to 100 letters, digits, ".", "_", "~" or "-"' };
    },
    mask: (target) => target,
    reaches: (target, { api_key: key }) => `${key} ${target}`,
  },
  baseUrl: 'https://alert.victorops.com',
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const secrets = [settings.api_key];
    const path = `/integrations/generic/20131114/alert/${encodeURIComponent(settings.api_key)}/${encodeURIComponent(target)}`;
    const answer = await io.request({ method: 'POST', url: io.baseUrl + path, body, secrets });
    const detail = fieldOf(answer, 'messages') ?? fieldOf(answer, 'message');
    // A failure may come with the status of a success.
    const isFailure = fieldOf(answer, 'result') === 'failure';
    if (isAccepted(answer) && !isFailure) return referenceOf(fieldOf(answer, 'entity_id'));
    const meaning = isAccepted(answer) ? refusedMessage : undefined;
    throw refusal(answer, { title, meaning, detail, secrets, now: io.now() });
  },
};

function render(message: Message) {
  const action = actionOf(message);
  return {
    message_type:
      action === 'close' ? 'RECOVERY' : action === 'acknowledge' ? 'ACKNOWLEDGEMENT' : messageTypes[levelOf(message)],
    entity_id: message.subjectKey,
    entity_display_name: cut(message.title, 500),
    state_message: layOut(message, plain, 10_000, { title: false }) || message.title,
    // Seconds since the epoch.
    state_start_time: Math.floor(Date.parse(message.startedAt ?? message.at) / 1000),
    timestamp: Math.floor(Date.parse(message.at) / 1000),
    monitoring_tool: 'Parallax',
    ...(pageOf(message) === undefined ? {} : { alert_url: pageOf(message) }),
  };
}
