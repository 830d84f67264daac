import type { CheckContext, CheckResult, CheckType, Target } from './check.ts';
import { connect } from './http/connect.ts';
import { outcomeOf, type Progress } from './http/outcome.ts';
import { createRedactor } from './http/secrets.ts';
import { bareHost, readUrl } from './http/target.ts';
import { readable } from './net/payload.ts';
import { type Conversed, converse } from './ws/conversation.ts';
import { wsSettings, type WsSettings } from './ws/settings.ts';

const both = ['ws:', 'wss:'];
const secureOnly = ['wss:'];
const alpn = ['http/1.1'];

/** A WebSocket: it takes the upgrade, and answers as expected where that is asked for. */
export const ws = webSocketCheck('ws', 'A WebSocket: upgrade, optional send and expect', both);
/** The same, and the target must use TLS. */
export const wss = webSocketCheck('wss', 'A WebSocket over TLS, with the certificate verified', secureOnly);

function webSocketCheck<Name extends 'ws' | 'wss'>(type: Name, summary: string, schemes: readonly string[]) {
  return {
    type,
    summary,
    reference: {
      targets: [`${type}://www.example.com/feed`],
      phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
      details: {
        messages: 'Messages that came.',
        subprotocol: 'The subprotocol that the server chose.',
        close_code: 'Code with which the server closed.',
      },
    },
    settings: wsSettings,
    secretFields: ['password', 'bearer_token', 'secret_headers', 'client_key'],
    requires: [],
    cheap: true,
    validateTarget: (target) => {
      const url = readUrl(target, type, schemes);
      return typeof url === 'string' ? url : undefined;
    },
    run: (target, settings, context) => run(target, type, settings, context),
  } satisfies CheckType<Name, ReturnType<typeof wsSettings>>;
}

async function run(
  target: Target,
  type: 'ws' | 'wss',
  settings: WsSettings,
  context: CheckContext,
): Promise<CheckResult> {
  const url = readUrl(target, type, both);
  if (typeof url === 'string') throw new Error(`The target was not validated: ${url}`);
  const progress: Progress = { startedAt: context.clock(), phases: {}, redirects: 0, url, obtained: [] };
  const secure = url.protocol === 'wss:';
  const place = { host: bareHost(url), port: Number(url.port || (secure ? 443 : 80)), secure };
  const connected = await connect(place, alpn, settings, context, progress);
  if ('failure' in connected) return outcomeOf(progress, connected.failure, settings, context);

  const conversed = await converse(connected.socket, url, settings, context);
  const { parser, sentAt, firstAt, endedAt } = conversed;
  progress.head = parser.head;
  progress.parser = parser;
  if (firstAt !== undefined) {
    progress.phases.first_byte = Math.max(0, Math.round((firstAt - sentAt) * 1000));
    progress.phases.transfer = Math.max(0, Math.round((endedAt - Math.max(firstAt, sentAt)) * 1000));
  }
  return outcomeOf(progress, conversed.failure, settings, context, seen(conversed, settings));
}

/**
 * What came back, without secrets. They are taken out before it is cut, so that no part of one stands at the end, and byte by byte, since
 * what came need not be text.
 */
function seen(conversed: Conversed, settings: WsSettings) {
  const { password, bearer_token: bearer, secret_headers: secretHeaders } = settings;
  const secrets = [password, bearer, ...Object.values(secretHeaders)].filter((each) => each !== undefined);
  const asBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
  const { text } = createRedactor(settings, secrets.map(asBytes));
  const { messages, subprotocol, closeCode, endedAt } = conversed;
  const shown = Buffer.from(text(conversed.shown.toString('latin1')), 'latin1');
  const details = {
    messages,
    ...(subprotocol !== undefined && { subprotocol: text(subprotocol).slice(0, 100) }),
    ...(closeCode !== undefined && { close_code: closeCode }),
  };
  return {
    endedAt,
    evidence: { ...(shown.length > 0 && { body: readable(shown) }), details },
    facts: { ...(shown.length > 0 && { body: conversed.shown.toString('utf8') }), details },
  };
}
