import { randomUUID } from 'node:crypto';
import type { RouteContract } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Sealer } from '../../crypto/seal.ts';
import { beforeCommit } from '../../database/scope.ts';
import type { BeforeCommit } from '../../database/scope.ts';
import type { Caller } from '../caller.ts';
import type { EncodedAnswer } from '../encoded-answer.ts';
import { problemOf } from '../problem-answers.ts';
import { aboutKey, requireAnswer } from './decide.ts';
import { givenKey, requestDigest } from './key.ts';
import { claimKey, freeKey, keepAnswer, noteDone } from './queries.ts';
import type { Claim, StoredRequest } from './queries.ts';

/** A request of a known caller, and where its answer goes. */
export type Exchange = {
  readonly contract: RouteContract;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
};

/** Runs the handler, unless the same request under the same key has been done. */
export type Once = (exchange: Exchange, run: () => Promise<EncodedAnswer>) => Promise<EncodedAnswer>;

export type OnceOptions = { readonly pool: DatabasePool; readonly sealer: Sealer; readonly log: Logger };

/** Headers beside the body that belong to an answer. */
const keptHeaders = ['etag', 'location'] as const;

const keptAnswer = z.object({
  status: z.number(),
  contentType: z.string().optional(),
  payload: z.string().optional(),
  headers: z.record(z.string(), z.string()),
});

/** How often a key is tried that is set free again and again by requests which are refused. */
const attempts = 3;

/**
 * Makes sure that a request under a key is done once, whatever becomes of its process: each transaction in which it writes notes that it has
 * (`noteDone`), so there is no time in which it is done and not known to be.
 */
export function createOnce(options: OnceOptions): Once {
  return async (exchange, run) => {
    const { contract, request, caller } = exchange;
    const key = givenKey(request.headers['idempotency-key']);
    if (key === undefined) return run();
    const route = `${contract.method} ${contract.path}`;
    const context = `idempotency ${caller.userId} ${route} ${key}`;
    const digest = requestDigest(request.url, request.body);
    const keyed = {
      userId: caller.userId,
      route,
      key,
      sealedDigest: options.sealer.seal(digest, `${context} request`),
      workspaceIds: [...caller.workspaces.keys()],
      attempt: randomUUID(),
    };
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const found = await claimKey(options.pool, keyed);
      if (found === undefined) continue;
      if ('claim' in found) return doOnce(options, exchange, found.claim, `${context} answer`, run);
      return repeatAnswer(options, exchange, found.stored, { context, digest });
    }
    throw aboutKey('idempotency_key_in_use', 'requests under this key come and go; send it again in a second', 1);
  };
}

async function doOnce(
  { pool, sealer, log }: OnceOptions,
  { reply }: Exchange,
  claim: Claim,
  context: string,
  run: () => Promise<EncodedAnswer>,
): Promise<EncodedAnswer> {
  const answer = await beforeCommit.run(committing(claim), run).catch(async (error: unknown) => {
    // What was refused has done nothing, and may be meant again; of what failed it is not known, unless the row says so.
    const isFailure = problemOf(error).status >= 500;
    await freeKey(pool, claim, isFailure).catch((err: unknown) => {
      log.warn({ err }, 'an idempotency key could not be set free; it is free in a minute');
    });
    throw error;
  });
  const { payload } = answer;
  if (payload !== undefined && typeof payload !== 'string') throw new Error('only text can be kept as an answer');
  const headers = Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = reply.getHeader(name);
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
  const kept = JSON.stringify({ ...answer, payload, headers } satisfies z.input<typeof keptAnswer>);
  await keepAnswer(pool, claim, sealer.seal(kept, context)).catch((err: unknown) => {
    // The request is done; only whoever sends it again learns that its answer is lost.
    log.warn({ err }, 'the answer of a request under an idempotency key could not be kept');
  });
  return answer;
}

function committing(claim: Claim): BeforeCommit {
  return async (scope, transaction) => {
    // Row-level security hides the key from a transaction of another scope.
    if (scope.userId !== claim.userId) return;
    if (await noteDone(transaction, claim)) return;
    throw aboutKey('idempotency_key_in_use', 'the request took so long that another attempt has taken over');
  };
}

function repeatAnswer(
  { sealer }: OnceOptions,
  { reply, caller }: Exchange,
  stored: StoredRequest,
  { context, digest }: { readonly context: string; readonly digest: Buffer },
): EncodedAnswer {
  const known = {
    isSame: sealer.open(stored.sealed_digest, `${context} request`).equals(digest),
    workspaceIds: stored.workspace_ids,
    isDone: stored.is_done,
    hasAnswer: stored.answer !== null,
  };
  requireAnswer(known, caller.workspaces);
  if (stored.answer === null) throw new Error('there is no answer');
  const { headers, ...answer } = keptAnswer.parse(
    JSON.parse(sealer.open(stored.answer, `${context} answer`).toString()),
  );
  void reply.headers(headers).header('idempotency-replayed', 'true');
  return { ...answer, payload: answer.payload };
}
