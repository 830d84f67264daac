/** One line of a ping program, understood. Times are whole microseconds. */
export type PingLine =
  | { readonly kind: 'reply'; readonly address: string; readonly sequence: number; readonly rttUs: number }
  | { readonly kind: 'lost'; readonly address: string; readonly sequence: number }
  | { readonly kind: 'unreachable'; readonly address: string; readonly reason: string };

const fpingReply = /^(\S+)\s+: \[(\d+)\], \d+ bytes, ([\d.]+(?:e[+-]?\d+)?) ms\b/;
const fpingLost = /^(\S+)\s+: \[(\d+)\], (?:timed out|error)/;
const fpingUnreachable = /^ICMP ([A-Za-z ]+?)(?: \([^)]*\))? from \S+ for ICMP(?:v6)? Echo sent to (\S+)/;
const fpingSendError = /^(\S+): error while sending ping: (.+)$/;

/** A line of `fping -C n` without `-q`, of either stream; undefined for duplicates, summaries and what is not known. */
export function parseFpingLine(line: string): PingLine | undefined {
  const reply = fpingReply.exec(line);
  if (reply?.[1] !== undefined) {
    return { kind: 'reply', address: reply[1], sequence: Number(reply[2]), rttUs: microseconds(reply[3]) };
  }
  const lost = fpingLost.exec(line);
  if (lost?.[1] !== undefined) return { kind: 'lost', address: lost[1], sequence: Number(lost[2]) };
  const unreachable = fpingUnreachable.exec(line);
  if (unreachable?.[2] !== undefined)
    return { kind: 'unreachable', address: unreachable[2], reason: unreachable[1] ?? '' };
  const sending = fpingSendError.exec(line);
  if (sending?.[1] !== undefined)
    return { kind: 'unreachable', address: sending[1], reason: (sending[2] ?? '').slice(0, 100) };
  return undefined;
}

const pingReply = /^\d+ bytes from .*?\b(?:icmp_)?seq=(\d+)\b.*?\btime[=<]([\d.]+) ?ms/;
const pingUnreachable = /^From \S+.*\b(?:icmp_)?seq=\d+ (Destination .+|Time to live exceeded|Packet filtered)$/;
const pingSendError = /^ping6?: (?:connect|sendto|sendmsg): (.{1,100})$/;

/** A line of `ping` (iputils, BSD and BusyBox). `address` is the one that was asked for: a line need not repeat it. */
export function parsePingLine(line: string, address: string): PingLine | undefined {
  const reply = pingReply.exec(line);
  if (reply !== null && !line.includes('(DUP!)')) {
    return { kind: 'reply', address, sequence: Number(reply[1]), rttUs: microseconds(reply[2]) };
  }
  const unreachable = pingUnreachable.exec(line) ?? pingSendError.exec(line);
  return unreachable === null ? undefined : { kind: 'unreachable', address, reason: unreachable[1] ?? '' };
}

function microseconds(milliseconds: string | undefined): number {
  const value = Number(milliseconds);
  return Number.isFinite(value) ? Math.round(value * 1000) : 0;
}
