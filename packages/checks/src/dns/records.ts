import type { Answer } from 'dns-packet';
import ipaddr from 'ipaddr.js';

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SRV', 'CAA', 'SOA', 'PTR'] as const;
export type DnsRecordType = (typeof recordTypes)[number];

/** A record's value in the form in which zone files write it; undefined for a record of another type. */
export function valueOf(answer: Answer, type: DnsRecordType): string | undefined {
  if (answer.type !== type) return undefined;
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return normaliseValue(answer.data, type);
    case 'MX':
      return `${answer.data.preference ?? 0} ${hostName(answer.data.exchange)}`;
    case 'SRV':
      return `${answer.data.priority ?? 0} ${answer.data.weight ?? 0} ${answer.data.port} ${hostName(answer.data.target)}`;
    case 'TXT':
      return [answer.data]
        .flat()
        .map((part) => Buffer.from(part).toString('utf8'))
        .join('');
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} "${answer.data.value}"`;
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = answer.data;
      return [hostName(mname), hostName(rname), serial, refresh, retry, expire, minimum]
        .map((each) => each ?? 0)
        .join(' ');
    }
    default:
      return undefined;
  }
}

/** A value as a person writes it, in the one spelling in which values are compared. */
export function normaliseValue(text: string, type: DnsRecordType): string {
  const trimmed = text.trim();
  switch (type) {
    case 'A':
    case 'AAAA':
      return ipaddr.isValid(trimmed) ? ipaddr.parse(trimmed).toString() : trimmed.toLowerCase();
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return hostName(trimmed);
    case 'MX':
    case 'SRV':
    case 'SOA':
      return trimmed.split(/\s+/).map(hostName).join(' ');
    case 'TXT':
      // Zone files quote: "v=spf1 …" "rest" is one text.
      return /^".*"$/.test(trimmed) ? unescaped(trimmed.slice(1, -1).replace(/(?<!\\)"\s+"/g, '')) : text;
    case 'CAA':
      return trimmed.replace(/^(\d+\s+\S+\s+)"?([^"]*)"?$/, '$1"$2"').replace(/\s+/g, ' ');
  }
}

/** `\;` and `\"` as dig and zone files write them (RFC 1035, 5.1), `\195\188` for bytes. */
function unescaped(text: string): string {
  const bytes = text.replace(/(?:\\(?:[01]\d\d|2[0-4]\d|25[0-5]))+/g, (run) =>
    Buffer.from(run.slice(1).split('\\').map(Number)).toString('utf8'),
  );
  return bytes.replace(/\\(\D)/g, '$1');
}

/** Lower case without the final dot. */
function hostName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/** The name under which the reverse record of an address stands (RFC 1035, RFC 3596). */
export function reverseName(address: string): string {
  const parsed = ipaddr.parse(address);
  const bytes = parsed.toByteArray();
  if (parsed.kind() === 'ipv4') return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15]).reverse();
  return `${nibbles.map((each) => each.toString(16)).join('.')}.ip6.arpa`;
}
