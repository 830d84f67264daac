import { randomBytes } from 'node:crypto';
import type { Logger } from '@parallax/telemetry';
import type { Service } from '../../../../capability.ts';
import type { Context } from '../../../../context.ts';
import { untilFirstDue } from '../../../../platform/database/first-due.queries.ts';
import { repeatWhenDue } from '../../../../platform/repeat-when-due.ts';
import { sendToRoom } from '../../../../response/channels/index.ts';
import { mostSubscribers } from '../plan.gateway.ts';
import { mayConfirm } from '../room.ts';
import { activate, lockCounts } from '../subscribers.queries.ts';
import { sealedFor, subscriptionUrl } from '../token.ts';
import { confirmMessage } from './as-chat.ts';
import { challengeBody } from './as-webhook.ts';
import { claimChallenges, firstDue, putChallenge } from './challenge.queries.ts';
import type { Challenged } from './challenge.queries.ts';
import { sendSigned } from './http.gateway.ts';
import { pageAddress } from '../../view/page-address.ts';

/** What asking by requests needs. */
export type ChallengeContext = Pick<
  Context,
  'database' | 'sealer' | 'outbound' | 'channels' | 'publicUrl' | 'now' | 'limits'
>;

const againMs = 2_000;
/** A receiver that is being set up gets a little time. */
const waitsSeconds = [30, 600] as const;

/** Asks webhooks and rooms whether they want to be told. */
export const challengeSender: Service<Context> = {
  name: 'challenges to subscribers of status pages',
  role: 'worker',
  start: async (context, log) =>
    repeatWhenDue({
      signals: context.database.signals,
      tables: ['status_page_subscribers'],
      unheardMs: againMs,
      work: async () => {
        await askDue(context, log);
        return untilFirstDue(context.database.worker, firstDue, againMs);
      },
      onError: (error) => log.warn({ err: error }, 'subscribers could not be asked; tried again in two seconds'),
    }),
};

/** Asks all that are due. @returns how many */
export async function askDue(context: ChallengeContext, log: Pick<Logger, 'info'>): Promise<number> {
  const claimed = await claimChallenges(context.database.worker);
  await Promise.all(claimed.map((one) => askOne(context, log, one)));
  return claimed.length;
}

async function askOne(context: ChallengeContext, log: Pick<Logger, 'info'>, asked: Challenged): Promise<void> {
  const { worker } = context.database;
  try {
    const isEchoed = await challenge(context, asked);
    if (isEchoed && (await admit(context, asked))) return;
    // A room was asked: somebody there follows the link or does not.
    await putChallenge(worker, asked.id, null);
  } catch (error) {
    log.info({ err: error, subscriber_id: asked.id }, 'a subscriber of a status page could not be asked');
    await putChallenge(worker, asked.id, waitsSeconds[asked.attempts - 1] ?? null);
  }
}

/** @returns whether a webhook answered with what it was sent */
async function challenge(context: ChallengeContext, asked: Challenged): Promise<boolean> {
  const { sealer, publicUrl, now } = context;
  const url = pageAddress(asked, publicUrl);
  const target = sealer.open(asked.target_sealed, sealedFor.target).toString();
  const manageUrl = subscriptionUrl(url, sealer.open(asked.token_sealed, sealedFor.token).toString());
  const id = `page-challenge-${asked.id}-${asked.attempts}`;
  const page = { id: asked.page_public_id, name: asked.page_name, url, timezone: asked.timezone };
  if (asked.kind === 'email') return false;
  if (asked.kind !== 'webhook') {
    const message = confirmMessage({ locale: asked.locale, manageUrl, page }, { id, nowMs: now() });
    await sendToRoom(context, asked.kind, target, message);
    return false;
  }
  if (asked.secret_sealed === null) throw new Error('a webhook subscriber has no secret');
  const secret = sealer.open(asked.secret_sealed, sealedFor.secret).toString();
  const word = randomBytes(24).toString('base64url');
  const body = challengeBody({ challenge: word, secret, manageUrl }, page, now());
  const response = await sendSigned(context, target, secret, { id, body });
  return echoed(response, word);
}

/** The word alone, or as the field of that name; nothing around it, so that a server that repeats all it gets has not agreed. */
export function echoed({ text, json }: { readonly text: string; readonly json: unknown }, word: string): boolean {
  if (text.trim() === word) return true;
  if (typeof json !== 'object' || json === null) return false;
  const { challenge: given, ...others } = json as Record<string, unknown>;
  return given === word && Object.keys(others).length === 0;
}

async function admit(context: ChallengeContext, asked: Challenged): Promise<boolean> {
  const scope = { userId: null, workspaceIds: [asked.workspace_id] };
  const most = await mostSubscribers(context, asked.workspace_id);
  return context.database.worker.transaction(async (tx) => {
    if (!mayConfirm(await lockCounts(scope, tx, asked.page_id), most)) return false;
    await activate(scope, tx, asked.id, 'pending');
    return true;
  });
}
