import { createHash } from 'node:crypto';
import type { AddressPolicy } from '@parallax/checks';

/** An endpoint that may be sent to, in the one form in which it is kept and compared. */
export type Endpoint = { readonly url: string; readonly service: string };

// Ended in 2024; what has such an address is sent nothing by anybody.
const ended = 'https://android.googleapis.com/gcm/send';

/**
 * Reads an endpoint. It is a URL that a tenant names: only https, or http to an address of loopback where the operator lets checks reach that
 * (tests do), without user information. Names are judged when they are dialled.
 */
export function readEndpoint(
  text: string,
  addresses: AddressPolicy,
): ({ readonly ok: true } & Endpoint) | { readonly ok: false; readonly message: string } {
  // Browsers give visible ASCII; what else stands in a URL, parsers disagree about.
  if (!/^[!-~]+$/.test(text) || text.includes('\\')) return refused('must be a URL of visible ASCII characters');
  if (!URL.canParse(text)) return refused('must be a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return refused('must not hold user information');
  if (url.hash !== '' || text.includes('#')) return refused('must not hold a fragment');
  if (url.href.startsWith(ended)) return refused('is of a push service that has ended: let the browser subscribe anew');
  const address =
    /^\[(?<v6>.+)\]$/.exec(url.hostname)?.groups?.['v6'] ?? (/^[0-9.]+$/.test(url.hostname) ? url.hostname : undefined);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && address !== undefined && isLoopback(address))) {
    return refused('must be an https URL');
  }
  if (address !== undefined) {
    const denial = addresses.judge(address, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
    if (denial !== undefined) return refused(`may not be reached: ${denial.reason}`);
  }
  return { ok: true, url: url.href, service: url.host };
}

/** SHA-256: an endpoint is random, so a slow hash would add nothing. */
export function endpointHash(url: string): Buffer {
  return createHash('sha256').update(url).digest();
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
