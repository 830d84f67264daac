import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { Target } from './check.ts';
import { addressFields, tlsFields } from './net/connection-settings.ts';
import { type Address, conversation, readAddress } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import { plainHost } from './net/host.ts';
import type { Session } from './net/session.ts';
import type { Taken } from './net/talk.ts';
import type { Evidence } from './outcome.ts';
import {
  answersRequest,
  optionsRequest,
  readResponse,
  type SipIds,
  type SipRequest,
  type SipResponse,
} from './sip/message.ts';

const statusRange = lazily(() =>
  z
    .string()
    .regex(/^(?:[2-6]xx|[2-6]\d\d(?:-[2-6]\d\d)?)$/i, 'A final status such as 200, a range such as 200-299, or 2xx.'),
);
const maxShownHeaders = 50;
/** Longest head of an answer. */
const maxHead = 64 * 1024;

/** Settings of `sip`. */
export const sipSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...tlsFields(),
    /** What the request goes over; absent: TLS for a sips: target, UDP for any other. */
    transport: z.enum(['udp', 'tcp', 'tls']).optional(),
    /** Whom the request is for; absent: the server itself. */
    user: z
      .string()
      .max(128)
      .regex(/^[\w\-.!~*'()&=+$,;?/]+$/, 'A user has letters, digits and the marks that RFC 3261 allows there.')
      .optional(),
    /** Final answers that count as good. Refusals do by default: many servers answer OPTIONS of a stranger with 401 or 404. */
    expected_status: z.array(statusRange()).min(1).max(32).default(['200-299', '400-499']),
  }),
);
export type SipSettings = z.infer<ReturnType<typeof sipSettings>>;

/** A SIP server: what it answers OPTIONS with, over UDP, TCP or TLS. The Contact of an answer is never followed. */
export const sip = conversation({
  type: 'sip',
  summary: 'A SIP server: answer to OPTIONS over UDP, TCP or TLS',
  reference: {
    targets: ['sip:example.com', 'sip.example.com:5060'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {},
  },
  settings: sipSettings,
  peer: 'a SIP server',
  codes: 'sip_protocol',
  target: readTarget,
  talk: async (session, settings, to) => {
    const request: SipRequest = {
      branch: `z9hG4bK${randomBytes(8).toString('hex')}`,
      tag: randomBytes(6).toString('hex'),
      callId: `${randomBytes(12).toString('hex')}@probe.invalid`,
      transport: to.tls === 'implicit' ? 'tls' : (settings.transport ?? 'udp'),
      host: plainHost(to.host),
      user: settings.user,
      userAgent: session.context.userAgent,
      endpoint: await session.locate(),
    };
    const response = await ask(session, request);
    const { status, reason } = response;
    session.evidence = shown(response);
    session.context.trace?.('sip', `${status} ${reason}`);
    if (settings.expected_status.some((range) => holds(range, status))) return;
    const wanted = settings.expected_status.join(', ').slice(0, 200);
    session.fail(
      'sip_status',
      `${session.where} answered OPTIONS with ${status} ${session.show(reason)}; expected is ${wanted}.`,
    );
  },
});

/** Takes `host`, `host:port`, `sip:host` and `sip://host`. */
function readTarget(target: Target, { transport }: SipSettings): Address | string {
  const isSecure = /^\s*sips:/i.test(target.url);
  const overTls = isSecure ? (transport ?? 'tls') === 'tls' : transport === 'tls';
  if (isSecure && !overTls) return 'A sips: target is reached over TLS only.';
  const text = target.url.trim().replace(/^(sips?):(?!\/\/)/i, '$1://');
  if (/@/.test(text)) return 'A user does not belong in the target; use the setting user.';
  const port = overTls ? 5061 : 5060;
  return readAddress(text, { plain: { sip: port, sips: port } }, overTls ? 'implicit' : 'none');
}

function shown({ status, reason, headers }: SipResponse): Evidence {
  const cut = headers.slice(0, maxShownHeaders).map(([name, value]) => [name, value.slice(0, 500)] as const);
  return { status, status_text: reason, headers: cut };
}

function holds(range: string, status: number): boolean {
  if (/xx$/i.test(range)) return Math.floor(status / 100) === Number(range[0]);
  const [from = 0, to = from] = range.split('-').map(Number);
  return status >= from && status <= to;
}

async function ask(session: Session, request: SipRequest): Promise<SipResponse> {
  const message = optionsRequest(request);
  if (request.transport === 'udp') return session.ask({ message, accept: (bytes) => finalResponse(bytes, request) });
  await session.open();
  session.say(message);
  const strange = failed('sip_protocol', `${session.where} does not answer OPTIONS as a SIP server does.`);
  return session.hear('an answer to OPTIONS', (received) => takeFinal(received, request, strange));
}

/** A datagram as the final answer; undefined for everything else, provisional answers (1xx) among it. */
function finalResponse(bytes: Buffer, ids: SipIds): SipResponse | undefined {
  const response = readResponse(bytes)?.response;
  return response !== undefined && response.status >= 200 && answersRequest(response, ids) ? response : undefined;
}

/** The final answer in a stream, behind any provisional ones and the empty lines that keep a connection alive (RFC 5626). */
function takeFinal(received: Buffer, ids: SipIds, strange: Failure): Taken<SipResponse> {
  let at = 0;
  for (;;) {
    while (received[at] === 0x0d || received[at] === 0x0a) at += 1;
    const rest = received.subarray(at);
    if (rest.length === 0) return undefined;
    if (!'SIP/2.0 '.startsWith(rest.toString('latin1', 0, 8))) return { failure: strange };
    const head = rest.subarray(0, maxHead);
    if (!head.includes('\r\n\r\n'))
      return head.length === maxHead ? { failure: strange } : { need: at + maxHead, orByte: 0x0a };
    const read = readResponse(rest);
    if (read === undefined || !answersRequest(read.response, ids)) return { failure: strange };
    if (read.response.status >= 200) return { value: read.response, used: at };
    if (rest.length < read.size) return { need: at + read.size };
    at += read.size;
  }
}
