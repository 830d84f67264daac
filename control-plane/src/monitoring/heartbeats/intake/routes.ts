import { pingBodyBytes, pingRoutes, Problem, pushRoutes } from '@parallax/api-contract';
import type { PingTaken } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { prefersJson } from '../../../platform/http/accept.ts';
import { AlternativeAnswer, handle, OtherText } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { isJsonMediaType } from '../../../platform/http/json-body.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { isSlug, uuidIn } from '../signals/address.ts';
import type { Address, Said } from '../signals/address.ts';
import { readBody } from '../signals/body.ts';
import type { ReadBody } from '../signals/body.ts';
import { createIntake } from './gateway.ts';
import type { Intake } from './gateway.ts';
import { NotWritten } from './group-commit.ts';
import { makeByPing } from './made-by-ping/gateway.ts';
import type { Offer, Outcome } from './offer.ts';
import { targetOf } from './target.ts';

const retryAfterSeconds = 5;

/** Where signals come in. */
export function intakeRoutes(context: Context): Route[] {
  const intake = createIntake(context);
  return [
    ...pingRoutes.map((contract) =>
      handle(contract, async ({ query, bytes, request }) => {
        request.reply.header('ping-body-limit', String(pingBodyBytes));
        // By the path itself, whose parts have other names in each route.
        const target = targetOf(partsOf(request));
        const asked = query as { readonly rid?: string | string[]; readonly create?: string | string[] };
        const rid = lastOf(asked.rid);
        const offer = offerOf(context, request, {
          address: target?.address ?? nowhere,
          said: target?.said ?? { kind: 'ping', exitCode: null },
          secretHash: target?.needsSecret === true ? randomKeyHash(request.header('x-secret') ?? '') : undefined,
          rid,
          body: readBody(bytes === undefined ? undefined : { ...bytes, isJson: isJson(request) }),
        });
        const outcome = await commit(intake, offer);
        if (lastOf(asked.create) === '1' && (await makes(context, request, offer, outcome))) {
          settle(request, await commit(intake, offer));
          return new AlternativeAnswer(answerOf(request, 'Created'));
        }
        await refuse(context, request, outcome);
        return answerOf(request, 'OK');
      }),
    ),
    ...pushRoutes.map((contract) =>
      handle(contract, async ({ params, query, request }) => {
        const isDown = lastOf(query.status) === 'down';
        const offer = offerOf(context, request, {
          address: { by: 'push', token: params.token },
          said: { kind: isDown ? 'fail' : 'success', exitCode: null },
          secretHash: undefined,
          rid: undefined,
          body: bodyOfPush(lastOf(query.msg), lastOf(query.ping)),
        });
        await refuse(context, request, await commit(intake, offer));
        return { ok: true };
      }),
    ),
  ];
}

/** Text, as clients of Healthchecks know it, or JSON where the client prefers that. */
function answerOf(request: RequestFacts, text: 'OK' | 'Created'): string | OtherText {
  request.reply.header('vary', 'Accept');
  if (!prefersJson(request.header('accept'))) return text;
  const answer: PingTaken = { ok: true, created: text === 'Created' };
  return new OtherText(JSON.stringify(answer), 'application/json; charset=utf-8');
}

/** An address that is nobody's: what cannot be one is looked up like any other, so that it is refused in the same time. */
const nowhere: Address = { by: 'slug', pingKey: '', slug: '' };

function offerOf(
  context: Context,
  request: RequestFacts,
  given: {
    readonly address: Address;
    readonly said: Said;
    readonly secretHash: Buffer | undefined;
    readonly rid: string | undefined;
    readonly body: ReadBody;
  },
): Offer {
  const { method } = request.reply.request;
  const rid = given.rid === undefined ? undefined : uuidIn(given.rid);
  return {
    ...given,
    rid: rid ?? null,
    isRidWrong: given.rid !== undefined && rid === undefined,
    method: method === 'HEAD' || method === 'POST' ? method : 'GET',
    atMs: Math.round(context.now()),
    remoteAddress: request.remoteAddress,
  };
}

async function commit(intake: Intake, offer: Offer): Promise<Outcome> {
  try {
    return await intake.commit(offer);
  } catch (error) {
    if (!(error instanceof NotWritten)) throw error;
    throw new Problem('unavailable', 'the signal could not be stored in time; send it again', {
      retryAfterSeconds,
      cause: error,
    });
  }
}

/** Makes the heartbeat of a signal that asks for it, where the ping key is right and there is none yet. */
async function makes(context: Context, request: RequestFacts, offer: Offer, outcome: Outcome): Promise<boolean> {
  if (outcome.kind !== 'unknown' || outcome.isThere || outcome.workspaceId === null) return false;
  if (offer.address.by !== 'slug' || !isSlug(offer.address.slug)) return false;
  const rate = context.limits.rate('heartbeat_made_by_ping');
  const state = await countOnce(context.database.api, `heartbeats made by pings:${outcome.workspaceId}`, rate);
  applyRates(request.reply, [state], 'heartbeats made by signals', 'in this workspace');
  await makeByPing(context, request, outcome.workspaceId, offer.address.slug);
  return true;
}

/** Counts a refused signal by its address, and refuses it: alike for what is unknown and for a wrong secret. */
async function refuse(context: Context, request: RequestFacts, outcome: Outcome): Promise<void> {
  if (outcome.kind === 'unknown') {
    const key = `unknown ping:${clientNetwork(request.remoteAddress)}`;
    const state = await countOnce(context.database.api, key, context.limits.rate('unknown_ping'));
    applyRates(request.reply, [state], 'unknown signals', 'from this address');
  }
  settle(request, outcome, context.limits.rate('ping').quota);
}

function settle(request: RequestFacts, outcome: Outcome, quota = 1): void {
  if (outcome.kind === 'unknown') {
    throw new Problem(
      'not_found',
      'no heartbeat takes this signal: the ping key, slug or uuid is unknown, or the header X-Secret is missing or wrong',
    );
  }
  if (outcome.kind !== 'limited') return;
  const state = {
    name: 'minute',
    quota,
    windowSeconds: 60,
    used: quota + 1,
    resetSeconds: outcome.resetSeconds,
  } as const;
  applyRates(request.reply, [state], 'signals', 'for this heartbeat');
}

/** The parts of the path below `/ping/`, decoded. */
function partsOf(request: RequestFacts): string[] {
  const path = request.reply.request.url.split('?', 1)[0] ?? '';
  return path
    .replace(/^(\/api\/v1)?\/ping\//, '')
    .split('/')
    .map((part) => decodeURIComponent(part));
}

function isJson(request: RequestFacts): boolean {
  return isJsonMediaType(request.header('content-type') ?? '');
}

function lastOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.at(-1);
}

/** The message of a push monitor is its body, its response time the duration. */
function bodyOfPush(message: string | undefined, ping: string | undefined): ReadBody {
  const read = readBody({ bytes: Buffer.from(message ?? ''), isCut: false, isJson: false });
  const durationMs = ping !== undefined && /^[0-9]{1,10}(\.[0-9]{1,6})?$/.test(ping) ? Math.round(Number(ping)) : null;
  return { ...read, durationMs };
}
