import type { DetailedPeerCertificate } from 'node:tls';
import { connect } from 'node:tls';
import { controlPlaneServerName, fingerprint } from '@parallax/pki';
import { EnrolmentError } from './enrolment-error.ts';

export { EnrolmentError };

/** Splits "host:port" or "[v6]:port". @throws EnrolmentError */
export function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:\s/]+)):(\d{1,5})$/.exec(address.trim());
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) {
    throw new EnrolmentError(
      `"${address}" is not an address of a control plane; it has the form host:port, for example control.example.org:9444`,
    );
  }
  return { host, port };
}

/**
 * Fetches the authority's certificate (DER) from the enrolment listener at first contact. Nothing of what answers is trusted but its having
 * the fingerprint of the join token: everything after this is verified against that certificate alone.
 * @throws EnrolmentError when it cannot be reached, does not speak TLS, or shows another authority
 */
export async function fetchAuthority(
  address: string,
  expectedFingerprint: string,
  timeoutMs = 10_000,
): Promise<Uint8Array> {
  const { host, port } = parseAddress(address);
  const chain = await presentedChain(host, port, timeoutMs);
  const authority = chain.find((der) => fingerprint(der) === expectedFingerprint.toLowerCase());
  if (authority !== undefined) return authority;
  throw new EnrolmentError(
    `${address} shows another authority than the join token names; the token may belong to another installation, or somebody is intercepting ` +
      'the connection. Nothing was sent. Compare the address with the one that the token was made for',
  );
}

/** All certificates that a TLS server presents, DER, leaf first. */
function presentedChain(host: string, port: number, timeoutMs: number): Promise<Uint8Array[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      servername: controlPlaneServerName,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    const fail = (reason: string, isTemporary: boolean): void => {
      socket.destroy();
      reject(new EnrolmentError(`the control plane at ${host}:${port} ${reason}`, { isTemporary }));
    };
    socket.setTimeout(timeoutMs, () =>
      fail(
        `did not answer within ${timeoutMs / 1_000} s; is the address right, and is the port open on the way?`,
        true,
      ),
    );
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // What the library says of a foreign protocol has several lines and helps nobody.
      const isForeign = error.code === 'EPROTO' || error.code?.startsWith('ERR_SSL_') === true;
      fail(
        isForeign
          ? 'does not speak TLS; is this its enrolment address?'
          : `cannot be reached: ${error.message}; is it running, and is this its enrolment address?`,
        !isForeign,
      );
    });
    socket.once('secureConnect', () => {
      const chain: Uint8Array[] = [];
      let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
      while (certificate?.raw !== undefined && chain.length < 10) {
        chain.push(new Uint8Array(certificate.raw));
        const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
        if (issuer === certificate) break;
        certificate = issuer;
      }
      socket.destroy();
      resolve(chain);
    });
  });
}
