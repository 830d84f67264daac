import * as grpc from '@grpc/grpc-js';
import {
  certificateFacts,
  PkiError,
  probeIdOfUri,
  serverTimeMetadata,
  verifyRenewal,
  verifySigningRequest,
} from '@parallax/pki';
import type { Authority } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import { EnrolmentService } from '@parallax/wire';
import type { EnrolmentServer, EnrolRequest, EnrolResponse, RenewRequest, RenewResponse } from '@parallax/wire';
import type { DatabasePool } from 'slonik';
import { parsePresentedToken } from '../join-token.ts';
import { addressGroup, cleanAddresses, peerAddress } from '../peer-address.ts';
import { isPlainText } from '../plain-text.ts';
import { KeyedBuckets } from '../token-bucket.ts';
import type { Rate } from '../token-bucket.ts';
import { adoptCertificate } from '../restored/queries.ts';
import { enrolProbe, isKnownCertificate, renewCertificate } from './queries.ts';
import { judgeRenewal } from './renewal-rules.ts';

export type EnrolmentOptions = {
  /** The worker's pool. */
  readonly pool: DatabasePool;
  readonly authority: Authority;
  /** What probes are told to dial. */
  readonly addresses: { readonly session: string; readonly enrolment: string; readonly broker: string };
  readonly now: () => number;
  readonly log: Logger;
  /** Called after the commit when there is a new probe. */
  readonly onEnrolled: (probeId: number) => void;
  /** Requests of one address (an IPv6 /64). */
  readonly rate?: Rate;
};

/** Largest request that is read: a token, a signing request and a certificate have a few kilobytes. */
export const maxEnrolmentMessageBytes = 32 * 1024;
const defaultRate: Rate = { burst: 20, perSecond: 1 };
const maxAtOnce = 32;

/** A refusal as the agent sees it. */
class Refusal extends Error {
  readonly code: grpc.status;
  readonly facts: Record<string, unknown>;

  constructor(code: grpc.status, message: string, facts: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.facts = facts;
  }
}

/** What a call ends with when it gives no answer. */
class Failure {
  readonly status: Partial<grpc.StatusObject>;

  constructor(status: Partial<grpc.StatusObject>) {
    this.status = status;
  }
}

const tokenRefusals = {
  unknown: 'the join token is not known here: it may belong to another installation, or be mistyped',
  expired: 'the join token has expired: create another',
  used: 'the join token has been used already: create another',
  name_taken: 'a probe with the name of this join token exists already: revoke it or create a token with another name',
} as const;

const renewalRefusals = {
  foreign: 'the certificate was not issued by this installation',
  unproven: 'the proof of possession is not valid for the held certificate',
  clock: `the time of the request is more than 10 minutes from ours: ask again with the time in ${serverTimeMetadata}`,
  revoked: 'the certificate or its probe is not known here or was revoked: register the probe anew',
  too_late: 'the certificate expired more than 30 days ago: register the probe anew',
} as const;

/** What the enrolment listener serves: first certificates against join tokens, and renewals. */
export function addEnrolmentService(server: grpc.Server, options: EnrolmentOptions): void {
  const buckets = new KeyedBuckets(options.rate ?? defaultRate);
  let atOnce = 0;

  function guarded<Request, Response>(
    what: string,
    work: (request: Request, address: string | undefined) => Promise<Response>,
  ): grpc.handleUnaryCall<Request, Response> {
    return (call, callback) => {
      const address = peerAddress(call.getPeer());
      const answer = async (): Promise<Response> => {
        if (!buckets.take(addressGroup(address), performance.now()) || atOnce >= maxAtOnce) {
          throw new Refusal(
            grpc.status.RESOURCE_EXHAUSTED,
            'too many requests from this address: try again in a minute',
          );
        }
        atOnce += 1;
        try {
          return await work(call.request, address);
        } finally {
          atOnce -= 1;
        }
      };
      void respond(answer(), callback, { what, address });
    };
  }

  async function respond<Response>(
    answer: Promise<Response>,
    callback: grpc.sendUnaryData<Response>,
    where: { what: string; address: string | undefined },
  ): Promise<void> {
    const result = await answer.catch((error: unknown) => new Failure(statusOf(error, where, options)));
    if (result instanceof Failure) callback(result.status);
    else callback(null, result);
  }

  const service: EnrolmentServer = {
    enrol: guarded('enrolment', (request: EnrolRequest, address) => enrol(options, request, address)),
    renew: guarded('renewal', (request: RenewRequest) => renew(options, request)),
  };
  server.addService(EnrolmentService, service);
}

async function enrol(
  options: EnrolmentOptions,
  request: EnrolRequest,
  address: string | undefined,
): Promise<EnrolResponse> {
  const token = parsePresentedToken(request.token);
  if (token === undefined) throw new Refusal(grpc.status.PERMISSION_DENIED, tokenRefusals.unknown);
  const facts = { join_token_id: token.id };
  if (request.signingPublicKey.length !== 32) {
    throw new Refusal(grpc.status.INVALID_ARGUMENT, 'the signing key must be 32 bytes, Ed25519', facts);
  }
  if (!isPlainText(request.agentVersion)) {
    const detail = 'agent_version is a text without control characters';
    throw new Refusal(grpc.status.INVALID_ARGUMENT, detail, facts);
  }
  const { publicKeyFingerprint } = await verifySigningRequest(request.csrDer);
  const result = await enrolProbe(options.pool, options.authority, {
    token,
    csrDer: request.csrDer,
    key: Buffer.from(publicKeyFingerprint, 'hex'),
    signingPublicKey: request.signingPublicKey,
    agentVersion: request.agentVersion.slice(0, 100),
    publicAddresses: cleanAddresses(request.publicAddresses),
  });
  if (result.kind === 'refused') {
    throw new Refusal(grpc.status.PERMISSION_DENIED, tokenRefusals[result.verdict], {
      ...facts,
      reason: result.verdict,
    });
  }
  const { probeId, name, region, certificateDer } = result.probe;
  options.log.info(
    { probe_id: probeId, name, region, ...facts, remote_address: address, repeated: result.kind === 'repeated' },
    'probe enrolled',
  );
  if (result.kind === 'enrolled') options.onEnrolled(probeId);
  return {
    probeId,
    name,
    region,
    certificateDer,
    authorityDer: Buffer.from(options.authority.certificateDer),
    sessionAddress: options.addresses.session,
    enrolmentAddress: options.addresses.enrolment,
    brokerAddress: options.addresses.broker,
  };
}

async function renew(options: EnrolmentOptions, request: RenewRequest): Promise<RenewResponse> {
  const held = certificateFacts(request.certificateDer);
  const probeId = probeIdOfUri(held.uri);
  await verifySigningRequest(request.csrDer);
  const isOurs = probeId !== undefined && (await options.authority.hasIssued(request.certificateDer));
  const isProven = verifyRenewal(request.certificateDer, request.csrDer, request.issuedAtMs, request.proof);
  const verdict = judgeRenewal({
    nowMs: options.now(),
    notAfterMs: held.notAfterMs,
    issuedAtMs: Number(request.issuedAtMs),
    isOurs,
    isProven,
    isKnown:
      isOurs &&
      isProven &&
      ((await isKnownCertificate(options.pool, probeId, held.serial, held.publicKeyFingerprint)) ||
        (await adoptCertificate(options.pool, probeId, request.certificateDer))),
  });
  // The number is only a claim until the certificate is known to be ours.
  const facts = isOurs ? { probe_id: probeId, serial: held.serial } : { serial: held.serial };
  if (verdict !== 'accepted' || probeId === undefined) {
    const reason = verdict === 'accepted' ? 'foreign' : verdict;
    const code = reason === 'clock' ? grpc.status.FAILED_PRECONDITION : grpc.status.PERMISSION_DENIED;
    throw new Refusal(code, renewalRefusals[reason], { ...facts, reason });
  }
  const certificateDer = await renewCertificate(
    options.pool,
    options.authority,
    probeId,
    request.csrDer,
    options.now(),
  );
  if (certificateDer === undefined) {
    throw new Refusal(
      grpc.status.RESOURCE_EXHAUSTED,
      'this probe has had too many certificates today: try again tomorrow',
      facts,
    );
  }
  options.log.info(facts, "probe's certificate renewed");
  return { certificateDer, authorityDer: Buffer.from(options.authority.certificateDer) };
}

function statusOf(
  error: unknown,
  where: { what: string; address: string | undefined },
  options: EnrolmentOptions,
): Partial<grpc.StatusObject> {
  const common = { remote_address: where.address };
  if (error instanceof Refusal || error instanceof PkiError) {
    const code = error instanceof Refusal ? error.code : grpc.status.INVALID_ARGUMENT;
    const facts = error instanceof Refusal ? error.facts : {};
    options.log.warn({ ...common, ...facts, detail: error.message }, `${where.what} of a probe refused`);
    const metadata = new grpc.Metadata();
    if (code === grpc.status.FAILED_PRECONDITION) metadata.set(serverTimeMetadata, String(Math.round(options.now())));
    return { code, details: error.message, metadata };
  }
  options.log.error({ ...common, err: error }, `${where.what} of a probe failed`);
  return { code: grpc.status.UNAVAILABLE, details: 'not possible at present: try again' };
}
