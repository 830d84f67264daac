import { credentialsText, readNatsClaims, signNatsJwt } from './nats-jwt.ts';
import { createNkey, nkeyFromSeed, nkeyPublic, readNkeySeed } from './nkeys.ts';
import type { Nkey, NkeyKind } from './nkeys.ts';
import { PkiError } from './errors.ts';

/** The seeds of the broker's chain of trust, as text; they live sealed in the database. */
export type NatsSeeds = {
  readonly operator: string;
  readonly system: string;
  readonly account: string;
  /** Signs users of the account, so that the account's own key is needed only for the account's JWT. */
  readonly accountSigning: string;
  /** The account of the probes, and what signs them. */
  readonly probes: string;
  readonly probesSigning: string;
};

export type ProbeJwtRequest = {
  readonly probeId: number;
  /** Raw Ed25519, 32 bytes: the key that the probe enrolled with. */
  readonly publicKey: Uint8Array;
  /** Shards that exist, 0 … n − 1. */
  readonly shards: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
};

/** A revoked user: everything signed for the key up to the time is void. */
export type NatsRevocation = { readonly publicKey: Uint8Array; readonly revokedAtMs: number };

/** Mints what nats-server in operator mode needs to know whom it may let in. */
export type NatsAuthority = {
  readonly systemAccount: string;
  /** The account of the control plane: it has JetStream, and takes the results of the account of the probes. */
  readonly account: string;
  readonly probeAccount: string;
  readonly operatorJwt: (nowMs: number) => string;
  readonly systemAccountJwt: (nowMs: number) => string;
  /**
   * The JWT of both accounts by their public keys, with every revocation there is: what is pushed last is the whole truth. The account of the control plane has
   * the revocations too, since probes were its users before they had an account of their own.
   */
  readonly accountJwts: (revocations: readonly NatsRevocation[], nowMs: number) => Readonly<Record<string, string>>;
  /** May publish its own results and hear its own inbox, nothing else. */
  readonly mintProbeJwt: (request: ProbeJwtRequest) => string;
  /** Credentials of the control plane in the account: everything there. */
  readonly controlPlaneCredentials: (nowMs: number) => string;
  /** Credentials in the system account: pushes accounts' JWTs. */
  readonly systemCredentials: (nowMs: number) => string;
};

/** What one account can do by a signing key alone: mint users. All that there is when somebody else runs the operator. */
export type NatsAccountAccess = Pick<
  NatsAuthority,
  'account' | 'probeAccount' | 'mintProbeJwt' | 'controlPlaneCredentials'
>;

const anyNumber = -1;
const unrestricted = { pub: {}, sub: {}, subs: anyNumber, data: anyNumber, payload: anyNumber };
const connectionLimits = {
  conn: anyNumber,
  leaf: 0,
  data: anyNumber,
  exports: anyNumber,
  imports: anyNumber,
  payload: anyNumber,
  subs: anyNumber,
  wildcards: true,
};
const storageLimits = {
  mem_storage: anyNumber,
  disk_storage: anyNumber,
  streams: anyNumber,
  consumer: anyNumber,
  max_ack_pending: anyNumber,
  mem_max_stream_bytes: anyNumber,
  disk_max_stream_bytes: anyNumber,
};
const noStorageLimits = { mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 };
/** What crosses from the account of the probes to that of the control plane. */
const everyResult = 'results.*.*';
/** A signed batch has at most 128 KiB and its envelope. */
const probePayloadBytes = 160 * 1024;

export function createNatsSeeds(): NatsSeeds {
  return {
    operator: createNkey('operator').seedText,
    system: createNkey('account').seedText,
    account: createNkey('account').seedText,
    accountSigning: createNkey('account').seedText,
    ...createProbeSeeds(),
  };
}

/** The seeds of the probes' account alone, for an installation from before it had one. */
export function createProbeSeeds(): Pick<NatsSeeds, 'probes' | 'probesSigning'> {
  return { probes: createNkey('account').seedText, probesSigning: createNkey('account').seedText };
}

/** @throws PkiError when a seed is mistyped or of another kind */
export function openNatsAuthority(seeds: NatsSeeds): NatsAuthority {
  const operator = keyOf('operator', seeds.operator);
  const system = keyOf('account', seeds.system);
  const account = keyOf('account', seeds.account);
  const probes = keyOf('account', seeds.probes);
  const accountOf = (key: Nkey, name: string, nowMs: number, nats: object): string =>
    signNatsJwt(operator, { sub: key.publicText, name, nats: { type: 'account', ...nats } }, nowMs);

  return {
    ...openNatsAccount(
      { account: account.publicText, signingSeed: seeds.accountSigning },
      { account: probes.publicText, signingSeed: seeds.probesSigning },
    ),
    systemAccount: system.publicText,
    operatorJwt: (nowMs) =>
      signNatsJwt(
        operator,
        { sub: operator.publicText, name: 'parallax', nats: { type: 'operator', system_account: system.publicText } },
        nowMs,
      ),
    systemAccountJwt: (nowMs) => accountOf(system, 'SYS', nowMs, { limits: connectionLimits }),
    accountJwts: (revocations, nowMs) => ({
      [account.publicText]: accountOf(account, 'PARALLAX', nowMs, {
        limits: { ...connectionLimits, ...storageLimits },
        signing_keys: [keyOf('account', seeds.accountSigning).publicText],
        // As a service, not as a stream: for a service the server answers to the account that the request came from.
        exports: [{ name: 'results', subject: everyResult, type: 'service' }],
        revocations: revocationTable(revocations),
      }),
      [probes.publicText]: accountOf(probes, 'PROBES', nowMs, {
        limits: { ...connectionLimits, ...noStorageLimits },
        signing_keys: [keyOf('account', seeds.probesSigning).publicText],
        imports: [{ name: 'results', subject: everyResult, account: account.publicText, type: 'service' }],
        revocations: revocationTable(revocations),
      }),
    }),
    systemCredentials: (nowMs) => user(system, undefined, 'control-plane-system', nowMs),
  };
}

/** An account and the seed of one of its signing keys. */
export type NatsSigner = {
  /** Public key of the account, "A…". */
  readonly account: string;
  readonly signingSeed: string;
};

/**
 * @param own the account of the control plane, which has JetStream
 * @param probes the account of the probes; absent: the same, and then whatever a probe names as the reply of its message is reached by the stream's answer
 * @throws PkiError when a seed is mistyped or of another kind
 */
export function openNatsAccount(own: NatsSigner, probes: NatsSigner = own): NatsAccountAccess {
  const signing = keyOf('account', own.signingSeed);
  const probeSigning = keyOf('account', probes.signingSeed);
  return {
    account: own.account,
    probeAccount: probes.account,
    mintProbeJwt: ({ probeId, publicKey, shards, nowMs, expiresAtMs }) =>
      signNatsJwt(
        probeSigning,
        {
          sub: nkeyPublic('user', publicKey),
          name: `probe-${probeId}`,
          exp: Math.floor(expiresAtMs / 1000),
          nats: {
            type: 'user',
            issuer_account: probes.account,
            pub: { allow: Array.from({ length: shards }, (_, shard) => resultSubject(probeId, shard)) },
            sub: { allow: [`${inboxPrefix(probeId)}.>`] },
            subs: 16,
            data: anyNumber,
            payload: probePayloadBytes,
          },
        },
        nowMs,
      ),
    controlPlaneCredentials: (nowMs) => user(signing, own.account, 'control-plane', nowMs),
  };
}

/**
 * The JWT of an account with these revocations in place of those it has, signed by a signing key of its operator; all else in it
 * stays as it is.
 * @throws PkiError when the JWT cannot be read, is not of an account, or the seed is not of an operator
 */
export function withRevocations(
  accountJwt: string,
  operatorSigningSeed: string,
  revocations: readonly NatsRevocation[],
  nowMs: number,
): string {
  const signing = keyOf('operator', operatorSigningSeed);
  const { sub, name, exp, nats } = readNatsClaims(accountJwt);
  if (nats.type !== 'account') throw new PkiError(`expected the JWT of an account, got one of an ${nats.type}`);
  const claims = { sub, name, ...(exp === undefined ? {} : { exp }) };
  return signNatsJwt(signing, { ...claims, nats: { ...nats, revocations: revocationTable(revocations) } }, nowMs);
}

function user(issuer: Nkey, issuerAccount: string | undefined, name: string, nowMs: number): string {
  const key = createNkey('user');
  const issuedFor = issuerAccount === undefined ? {} : { issuer_account: issuerAccount };
  const nats = { type: 'user', ...unrestricted, ...issuedFor } as const;
  return credentialsText(signNatsJwt(issuer, { sub: key.publicText, name, nats }, nowMs), key.seedText);
}

/** The subject that a probe publishes its results of a shard on. */
export function resultSubject(probeId: number, shard: number): string {
  return `results.${probeId}.${shard}`;
}

/** The prefix of every inbox of a probe: it may subscribe nowhere else. */
export function inboxPrefix(probeId: number): string {
  return `_INBOX_${probeId}`;
}

/** Whole seconds, rounded up: nats-server voids what was signed up to and including that second. */
function revocationTable(revocations: readonly NatsRevocation[]): Record<string, number> {
  return Object.fromEntries(
    revocations.map(({ publicKey, revokedAtMs }) => [nkeyPublic('user', publicKey), Math.ceil(revokedAtMs / 1000)]),
  );
}

function keyOf(kind: NkeyKind, seedText: string): Nkey {
  const read = readNkeySeed(seedText);
  if (read.kind !== kind) throw new PkiError(`expected the seed of an ${kind}, got one of an ${read.kind}`);
  return nkeyFromSeed(kind, read.seed);
}
