import { Problem } from '@parallax/api-contract';
import type { PasskeyAnswer, TokenPair } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { countOnce, perHour } from '../../../platform/http/rate-limits.ts';
import { tellOwner } from '../../accounts/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { secondFactorTriedLetter } from '../../mails/index.ts';
import { factorsOf, signIn } from '../entry/queries.ts';
import type { Entry, Proof } from '../entry/queries.ts';
import { hashOf } from '../entry/secret-token.ts';
import { judgedPasskey } from '../passkeys/gateway.ts';
import { freeFailures } from './pauses.ts';
import {
  clearTries,
  countRecoveryCodes,
  countTry,
  findTotp,
  removeRecoveryCodes,
  replaceRecoveryCodes,
  useRecoveryCode,
  useTotpStep,
} from './queries.ts';
import { makeRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import { matchingStep } from './totp.ts';

/** A second factor as it was given: exactly one of them. */
export type GivenFactor = {
  readonly totp_code?: string | undefined;
  readonly recovery_code?: string | undefined;
  /** With the token that its challenge was made from. */
  readonly passkey?: { readonly answer: PasskeyAnswer; readonly token: string } | undefined;
};

/** Names what a secret is sealed for. */
export function totpSeal(userId: number): string {
  return `totp of user ${userId}`;
}

/**
 * Signs in by a second factor, whose use, the end of the challenge and the start of the session are one transaction.
 * @param of.token of the first factor, by which wrong ones are counted
 * @param of.take uses up what led here
 * @throws Problem `invalid_second_factor`, `rate_limited` after too many tries
 */
export async function passSecondFactor(
  context: Context,
  entry: Entry,
  given: GivenFactor,
  request: RequestFacts,
  { token, take }: { readonly token?: string; readonly take?: (transaction: Transaction) => Promise<void> },
): Promise<TokenPair> {
  const network = `${entry.userId}:${clientNetwork(request.remoteAddress)}`;
  // By network too, so that whoever has the first factor and is elsewhere locks nobody out.
  const tries = await countOnce(context.database.api, `second-factor:${network}`, context.limits.rate('second_factor'));
  applyRates(request.reply, [tries], 'tries of a second factor', 'of this account from this address');
  const keys = [`network ${network}`, ...(token === undefined ? [] : [`token ${token}`])].map(hashOf);
  const failures = await countTries(context, entry, keys);
  const show = await proofOf(context, entry.userId, given);
  try {
    return await signIn(context, entry, request, async (scope, transaction) => {
      await take?.(transaction);
      const factor = await show(scope, transaction);
      if (factor === undefined)
        throw new Problem('invalid_second_factor', 'the second factor is wrong or was used before');
      await clearTries(scope, transaction, keys);
      return factor;
    });
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_second_factor')
      await noteFailure(context, entry, request, failures);
    throw error;
  }
}

/** Judges outside the transaction what takes computing; the proof uses it up and gives undefined when it does not hold. */
async function proofOf(context: Context, userId: number, given: GivenFactor): Promise<Proof> {
  const { totp_code, recovery_code, passkey } = given;
  if (passkey !== undefined) {
    const use = await judgedPasskey(context, { ...passkey, userId, isAlone: false });
    return async (scope, transaction) => ((await use?.(scope, transaction)) === true ? 'passkey' : undefined);
  }
  if (totp_code !== undefined) {
    return async (scope, transaction) =>
      (await totpHolds(context, scope, transaction, userId, totp_code)) ? 'totp' : undefined;
  }
  return async (scope, transaction) =>
    (await useRecoveryCode(scope, transaction, recoveryCodeHash(recovery_code ?? ''))) ? 'recovery_code' : undefined;
}

async function totpHolds(
  context: Context,
  scope: Scope,
  transaction: Transaction,
  userId: number,
  code: string,
): Promise<boolean> {
  const totp = await findTotp(scope, transaction);
  if (totp === null || totp.confirmed_at === null) return false;
  const step = matchingStep(context.sealer.open(totp.secret, totpSeal(userId)), code, context.now());
  return step !== undefined && useTotpStep(scope, transaction, step);
}

/**
 * Counts a try under each key before it is judged.
 * @returns the most that were counted under one
 * @throws Problem `rate_limited` while a pause lasts; then nothing is counted
 */
async function countTries(context: Context, { userId }: Entry, keys: readonly Buffer[]): Promise<number> {
  const scope = { userId, workspaceIds: [] };
  return inScope(context.database.api, scope, async (transaction) => {
    let most = 0;
    // In one order for all, so that nobody waits for each other.
    for (const key of keys.toSorted((one, other) => Buffer.compare(one, other))) {
      const tried = await countTry(scope, transaction, key);
      if ('waitSeconds' in tried) throw pauses(tried.waitSeconds);
      most = Math.max(most, tried.failures);
    }
    return most;
  });
}

function pauses(seconds: number): Problem {
  const detail = `too many second factors were wrong; try again in ${seconds} s`;
  return new Problem('rate_limited', detail, { retryAfterSeconds: seconds });
}

/** Writes the audit log, and tells the owner when it has become too many for slips: somebody else has the first factor. */
async function noteFailure(context: Context, entry: Entry, request: RequestFacts, failures: number): Promise<void> {
  const { userId, way } = entry;
  const scope = { userId, workspaceIds: [] };
  const isTold = failures === freeFailures && (await isFirstOfHour(context, userId));
  await inScope(context.database.api, scope, async (transaction) => {
    await recordAudit(transaction, { kind: 'user', userId }, request, {
      action: 'second_factor.failed',
      subjectType: 'user',
      subjectId: userId,
      detail: { way },
    });
    if (!isTold) return;
    await tellOwner(context, scope, transaction, (locale) =>
      secondFactorTriedLetter(locale, failures, request.remoteAddress),
    );
  });
}

/** Ten wrong codes from each of many networks are one mail. */
async function isFirstOfHour(context: Context, userId: number): Promise<boolean> {
  const told = await countOnce(context.database.api, `second-factor-mail:${userId}`, perHour(1));
  return told.used <= told.quota;
}

/** Gives an account that gets its first factor its recovery codes; null when it has some. */
export async function firstRecoveryCodes(scope: Scope, transaction: Transaction): Promise<readonly string[] | null> {
  if ((await countRecoveryCodes(scope, transaction)).made > 0) return null;
  return newRecoveryCodes(scope, transaction);
}

/** Ten new codes in place of the old ones. */
export async function newRecoveryCodes(scope: Scope, transaction: Transaction): Promise<readonly string[]> {
  const codes = makeRecoveryCodes();
  await replaceRecoveryCodes(scope, transaction, codes.map(recoveryCodeHash));
  return codes;
}

/** Removes the recovery codes of an account that has no factor any more. */
export async function dropIdleRecoveryCodes(scope: Scope, transaction: Transaction): Promise<void> {
  if ((await factorsOf(scope, transaction)).length === 0) await removeRecoveryCodes(scope, transaction);
}
