import type { Endpoint } from '../net/dial.ts';

/** What one OPTIONS request is told apart by, made anew for each check. */
export type SipIds = { readonly branch: string; readonly tag: string; readonly callId: string };

export type SipRequest = SipIds & {
  readonly transport: 'udp' | 'tcp' | 'tls';
  readonly host: string;
  readonly user: string | undefined;
  readonly userAgent: string;
  readonly endpoint: Endpoint;
};

/** An OPTIONS request: RFC 3261 section 11, answered to where it came from by `rport` (RFC 3581), so no address of the probe is in it. */
export function optionsRequest(request: SipRequest): Buffer {
  const { transport, host, user, endpoint, branch, tag, callId } = request;
  const scheme = transport === 'tls' ? 'sips' : 'sip';
  const usualPort = transport === 'tls' ? 5061 : 5060;
  const authority = `${host.includes(':') ? `[${host}]` : host}${endpoint.port === usualPort ? '' : `:${endpoint.port}`}`;
  const uri = `${scheme}:${user === undefined ? '' : `${user}@`}${authority}`;
  const parameter = transport === 'tcp' ? ';transport=tcp' : '';
  const lines = [
    `OPTIONS ${uri}${parameter} SIP/2.0`,
    `Via: SIP/2.0/${transport.toUpperCase()} probe.invalid;branch=${branch};rport`,
    'Max-Forwards: 70',
    `From: <${scheme}:probe@probe.invalid>;tag=${tag}`,
    `To: <${uri}>`,
    `Call-ID: ${callId}`,
    'CSeq: 1 OPTIONS',
    `Contact: <${scheme}:probe@probe.invalid${parameter}>`,
    'Accept: application/sdp',
    `User-Agent: ${request.userAgent.replace(/[^\x20-\x7e]/g, '')}`,
    'Content-Length: 0',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

export type SipResponse = {
  readonly status: number;
  readonly reason: string;
  /** Names in lower case and in their long form. */
  readonly headers: ReadonlyArray<readonly [string, string]>;
};

const maxHeaders = 100;
/** Short forms of RFC 3261, section 7.3.3, as far as they matter here. */
const longForms: Readonly<Record<string, string>> = {
  i: 'call-id',
  l: 'content-length',
  v: 'via',
  f: 'from',
  t: 'to',
  m: 'contact',
  k: 'supported',
};

/** Reads a response from its first line to the empty line behind its headers; undefined for what is none, or while it is not whole. */
export function readResponse(bytes: Buffer): { readonly response: SipResponse; readonly size: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('utf8', 0, end).split('\r\n');
  const match = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/.exec(first);
  if (match === null || lines.length > maxHeaders) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) {
      last[1] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1) return undefined;
    const name = line.slice(0, colon).trim().toLowerCase();
    headers.push([longForms[name] ?? name, line.slice(colon + 1).trim()]);
  }
  const length = headers.find(([name]) => name === 'content-length')?.[1] ?? '0';
  if (!/^\d{1,7}$/.test(length)) return undefined;
  const response = { status: Number(match[1]), reason: (match[2] ?? '').slice(0, 200), headers };
  return { response, size: end + 4 + Number(length) };
}

/** Whether a response is for this request. */
export function answersRequest({ headers }: SipResponse, ids: SipIds): boolean {
  const value = (name: string) => headers.find(([each]) => each === name)?.[1];
  return value('call-id') === ids.callId && /^1\s+OPTIONS$/i.test(value('cseq') ?? '');
}
