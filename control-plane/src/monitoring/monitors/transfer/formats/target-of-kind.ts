import { RowFault } from '../file/cells.ts';
import type { Kind } from './kinds.ts';
import { hostTarget, portTarget, webTarget } from './targets.ts';

/** Types whose targets are hosts alone. */
const takesHost: ReadonlySet<string> = new Set(['ping', 'icmp', 'dns', 'whois', 'rdap']);
/** Types whose targets may be a bare host; with a port of its own the target is `host:port`. */
const takesPort: ReadonlySet<string> = new Set(['smtp', 'imap', 'pop3', 'ftp', 'ssh', 'udp', 'ssl', 'tls']);

/** What a row of another tool says beside its address. */
export type TargetParts = {
  readonly port?: number | undefined;
  readonly keyword?: string | undefined;
  readonly keywordAbsent?: string | undefined;
  /** Of an address without a scheme. */
  readonly assumed?: 'http' | 'https';
};

/**
 * URL, protocol and keyword of a row of another tool.
 * @throws RowFault when the kind lacks what it needs
 */
export function targetOfKind(
  kind: Kind,
  address: string,
  parts: TargetParts,
  warnings: string[],
): { readonly url: string; readonly protocol: string; readonly keyword?: string; readonly keyword_absent?: string } {
  if (kind === 'web' || kind === 'keyword' || kind === 'keyword_absent') {
    return { ...webTarget(address, warnings, parts.assumed), ...keywordOfKind(kind, parts) };
  }
  if (kind === 'port') return { url: portTarget(address, parts.port), protocol: 'tcp' };
  if (takesHost.has(kind)) return { url: hostTarget(address, warnings), protocol: kind };
  if (parts.port !== undefined && takesPort.has(kind)) {
    return { url: portTarget(address, parts.port), protocol: kind };
  }
  return { url: address, protocol: kind };
}

function keywordOfKind(kind: 'web' | 'keyword' | 'keyword_absent', { keyword, keywordAbsent }: TargetParts) {
  if (kind !== 'web' && keyword === undefined && keywordAbsent === undefined) {
    throw new RowFault('keyword_missing', 'a check for a keyword needs the keyword');
  }
  return {
    ...(keyword === undefined ? {} : { keyword }),
    ...(keywordAbsent === undefined ? {} : { keyword_absent: keywordAbsent }),
  };
}
