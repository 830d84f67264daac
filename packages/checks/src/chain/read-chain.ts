import type { X509Certificate } from 'node:crypto';
import type { CheckContext } from '../check.ts';
import { within } from '../diagnosis/within.ts';
import type { ConnectionSettings } from '../net/connection-settings.ts';
import { hold } from '../net/hold.ts';
import type { ErrorCode } from '../outcome.ts';
import { onItsWay } from '../run/way-of-settings.ts';
import { startTls } from '../ssl/starttls.ts';
import { maxChainCertificates, type SentChain } from './sent-chain.ts';
import { chainWayOf } from './way.ts';

/** What one look may take, whatever the context grants. */
const mostMs = 10_000;

/**
 * Shakes hands with a target once, under the same rules as a check, and gives the certificates that it sent, in its order: every address is
 * judged before it is dialled, nothing outlasts `context.timeoutMs` or the signal, no login is tried and nothing is asked inside TLS. Never
 * rejects for anything that the target does. What the server says beside its certificates goes no further.
 *
 * @param settings of the monitor: how TLS begins, name, authorities, the client's own certificate, name servers and the proxy are read from them
 */
export async function readChain(
  protocol: string,
  url: string,
  settings: Readonly<Record<string, unknown>>,
  context: CheckContext,
): Promise<SentChain> {
  const way = chainWayOf(protocol, url, settings);
  if (way === undefined) return { code: 'no_tls' };
  const { host, port, starttls, serverName } = way;
  let sent: SentChain | undefined;
  const outcome = await within(mostMs, { ...context, wanted: undefined, trace: undefined }, (bounded) =>
    hold(
      {
        to: { host, port, tls: starttls === undefined ? 'implicit' : 'starttls' },
        settings: { ...connectionOf(settings), server_name: serverName, verify_tls: false },
        context: onItsWay(bounded, settings),
        peer: 'a TLS server',
        codes: { breach: 'starttls_protocol' },
        secrets: [],
        ...(starttls === 'smtp' && { purpose: { mail: true } }),
        anyTlsVersion: true,
      },
      async (session) => {
        await session.open();
        if (starttls !== undefined) await startTls(starttls, session);
        const { peer } = session;
        if (peer === undefined) throw new Error('A handshake without facts about the other side.');
        sent = {
          certificates: asSent(peer.certificate),
          trust_error: peer.chainError ?? null,
          tls_version: peer.protocol ?? null,
          cipher: peer.cipher ?? null,
        };
      },
    ),
  );
  return sent ?? { code: outcome.code ?? ('tls_handshake' satisfies ErrorCode) };
}

/**
 * The certificates in the order in which they came. Node links each to the one that was sent behind it, whoever signed it, and only the
 * first time that a socket is asked.
 */
function asSent(leaf: X509Certificate | undefined): string[] {
  const all: string[] = [];
  for (let each = leaf; each !== undefined && all.length < maxChainCertificates; each = each.issuerCertificate)
    all.push(each.raw.toString('base64'));
  return all;
}

function connectionOf(settings: Readonly<Record<string, unknown>>): ConnectionSettings {
  const { ip_version: family, ca_certificates: authorities } = settings;
  const { client_certificate: certificate, client_key: key } = settings;
  const hasPair = typeof certificate === 'string' && typeof key === 'string';
  return {
    ...((family === 4 || family === 6) && { ip_version: family }),
    ...(typeof authorities === 'string' && { ca_certificates: authorities }),
    ...(hasPair && { client_certificate: certificate, client_key: key }),
  };
}
