import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { dial, locate } from '../net/dial.ts';
import type { Failure } from '../net/failure.ts';
import { openTls } from '../net/tls.ts';
import { type ConnectionSettings, secureSettings } from './ask.ts';
import { addPhase, type Progress } from './outcome.ts';
import type { Place } from './target.ts';

export type { Place } from './target.ts';

/**
 * A fresh connection to a judged address, with TLS where it is asked for. What was seen goes into `progress`. Gives the failure when there
 * is none; the socket keeps a listener for late errors, and the caller destroys it.
 */
export async function connect(
  place: Place,
  alpn: string[] | undefined,
  settings: ConnectionSettings,
  context: CheckContext,
  progress: Progress,
): Promise<{ readonly socket: Socket } | { readonly failure: Failure }> {
  const located = await locate(place.host, place.port, context, { family: settings.ip_version });
  progress.endpoint = located.endpoint;
  addPhase(progress, 'dns', located.dnsUs);
  if (!located.ok) return { failure: located.failure };
  if (!place.secure) {
    const dialed = await dial(located.endpoint, context);
    addPhase(progress, 'connect', dialed.connectUs);
    return dialed.ok ? { socket: dialed.socket } : { failure: dialed.failure };
  }
  const options = { host: place.host, verify: settings.verify_tls, context: secureSettings(settings, true) };
  const opened = await openTls(located.endpoint, { ...options, ...(alpn && { alpn }) }, context);
  addPhase(progress, 'connect', opened.connectUs);
  addPhase(progress, 'tls', opened.tlsUs);
  progress.peer = opened.peer;
  if (opened.peer !== undefined) progress.soonestEnd = opened.peer.notAfter;
  return opened.ok ? { socket: opened.socket } : { failure: opened.failure };
}
