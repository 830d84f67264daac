import { enqueueMail } from '../../platform/mail/mail.ts';
import { renderLetter } from '../../platform/mail/letter.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { Context } from '../../context.ts';
import type { Message } from '../messages/index.ts';
import { hasBrowser, subscribedBrowsers } from '../web-push/index.ts';
import type { AnySettings } from './channel.ts';
import { reachProblem } from './chat-reach/gateway.ts';
import type { DeliveryErrorCode, DeliveryFault } from './delivery-error.ts';
import { DeliveryError } from './delivery-error.ts';
import { configDisabledLetter, targetDisabledLetter } from './letters.ts';
import { consentProblem } from './mail-targets/consent.ts';
import { mailTargetUrl } from './mail-targets/links.ts';
import { unsubscribeContext, unsubscribeToken } from './mail-targets/token.ts';
import { channelOf } from './registry.ts';
import type { AnyChannel } from './registry.ts';
import { attempt } from './sending/attempt.ts';
import { channelParts } from './sending/parts.ts';
import {
  disableTarget,
  enableTarget,
  findSender,
  findTarget,
  noteFailure,
  noteSuccess,
  setUnsubscribeToken,
} from './sending/queries.ts';
import type { SenderRow, TargetRow } from './sending/row.ts';
import { settingsOf } from './sending/settings-of.ts';
import type { Destined } from './targets/gateway.ts';

export type DeliverRequest = Destined & {
  readonly workspaceId: number;
  readonly message: Message;
  /** It is not tried again after this: a fault that passes then counts for the streak that switches the configuration off. */
  readonly isLastAttempt?: boolean;
};

export type DeliverResult =
  | { readonly ok: true; readonly latencyMs: number; readonly reference: string | undefined }
  | {
      readonly ok: false;
      readonly latencyMs: number;
      readonly code: DeliveryErrorCode;
      readonly fault: DeliveryFault;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    };

/** What is sent with, once everything was found good. */
type Ready = {
  readonly channel: AnyChannel;
  readonly settings: AnySettings;
  readonly target: string;
  readonly sender: SenderRow;
  readonly known: TargetRow | null;
};

/**
 * Sends a message once, by the owner's configuration, and keeps what follows from it: a target that is gone is given up, a configuration whose
 * credentials were refused or by which ten messages in a row failed is switched off, and its owner is told by mail. Rejects only when the database
 * does. No transaction is open while it sends.
 */
export async function deliver(context: Context, request: DeliverRequest): Promise<DeliverResult> {
  let ready: Ready;
  try {
    ready = await prepare(context, request);
  } catch (error) {
    if (error instanceof DeliveryError) return failed(error, 0);
    throw error;
  }
  const { channel, settings, target, sender } = ready;
  const message = await withUnsubscribe(context, request, ready);
  const parts = channelParts(context, `${message.id}\n${request.ownerId}`);
  const browsers = subscribedBrowsers(context, request.ownerId);
  const outcome = await attempt(channel, parts, { settings, target, message, browsers });
  context.deliveryMetrics.tried(channel.name, outcome.ok ? 'sent' : outcome.error.code, outcome.latencyMs);
  if (outcome.ok) {
    if (sender.config_id !== null && sender.settings_version !== null) {
      await noteSuccess(context.database.worker, sender.config_id, sender.settings_version);
    }
    return { ok: true, latencyMs: outcome.latencyMs, reference: outcome.delivered.reference };
  }
  if (outcome.defect !== undefined)
    context.log.error({ err: outcome.defect, channel: channel.name }, 'a channel failed');
  await keepFailure(context, request, ready, outcome.error);
  return failed(outcome.error, outcome.latencyMs);
}

/** Whether something could be sent there now; the reason when not. */
export async function isUsable(
  context: Context,
  destined: Destined,
): Promise<{ ok: true } | { ok: false; reason: string }> {
  try {
    await prepare(context, destined);
    return { ok: true };
  } catch (error) {
    if (error instanceof DeliveryError) return { ok: false, reason: error.message };
    throw error;
  }
}

/**
 * Takes up what was given up for want of a browser, in the transaction in which one is subscribed: hook of web push, whose targets are `all` and
 * the numbers of subscriptions.
 */
export async function takeUpBrowser(scope: Scope, tx: Transaction, subscriptionId: number): Promise<void> {
  for (const target of ['all', String(subscriptionId)]) {
    await enableTarget(tx, { ownerId: scope.userId ?? 0, channel: 'web-push', target });
  }
}

/** @throws DeliveryError */
async function prepare(
  context: Context,
  { ownerId, channel: name, configId, target: given }: Destined,
): Promise<Ready> {
  const channel = channelOf(name);
  if (channel === undefined) throw notConfigured('There is no such channel any more.');
  const { worker } = context.database;
  const sender = await findSender(worker, ownerId, channel.name, configId);
  if (sender === null) throw notConfigured('The account of the alert is gone.');
  if (configId !== null && sender.config_id === null) throw notConfigured('The configuration of the channel is gone.');
  if (sender.is_active === false) throw notConfigured('The configuration of the channel is switched off.');
  const settings = settingsOf(context, channel, sender);
  if (settings === undefined) throw notConfigured(`${channel.title} is not configured.`);
  const read = channel.target.parse(given, settings);
  if (!read.ok) throw new DeliveryError('unknown_target', 'target', `The target ${read.problem}.`);
  const target = read.target;
  const known = await findTarget(worker, ownerId, channel.name, target);
  if (known?.disabled_at != null) {
    throw new DeliveryError('unknown_target', 'target', `The target was given up: ${known.reason ?? 'it is gone'}`);
  }
  const problem = channel.name === 'email' ? consentOf(target, sender, known) : undefined;
  if (problem !== undefined) throw new DeliveryError(problem.code, 'target', problem.message);
  const unreached = await reachProblem(worker, { channel: channel.name, settings, userId: ownerId, target });
  if (unreached !== undefined) throw new DeliveryError('target_not_confirmed', 'target', unreached);
  return { channel, settings, target, sender, known };
}

function consentOf(target: string, sender: SenderRow, known: TargetRow | null) {
  return consentProblem(
    target,
    { email: sender.email, isVerified: sender.email_verified },
    known === null ? null : { confirmed: known.confirmed_at !== null, unsubscribed: known.unsubscribed_at !== null },
  );
}

const unsubscribeLabels = { en: 'No more alerts to this address', ru: 'Больше не присылать на этот адрес' } as const;

/** Mails carry a link by which their reader ends them. */
async function withUnsubscribe(context: Context, request: DeliverRequest, ready: Ready): Promise<Message> {
  const { message } = request;
  if (ready.channel.name !== 'email') return message;
  const place = { ownerId: request.ownerId, channel: ready.channel.name, target: ready.target };
  const sealedFor = unsubscribeContext(place.ownerId, place.target);
  let sealed = ready.known?.unsubscribe_sealed;
  if (sealed == null) {
    const token = unsubscribeToken.make();
    const made = { hash: randomKeyHash(token), sealed: context.sealer.seal(token, sealedFor) };
    await setUnsubscribeToken(context.database.worker, place, made);
    // Another process may have been the first.
    sealed = (await findTarget(context.database.worker, place.ownerId, place.channel, place.target))
      ?.unsubscribe_sealed;
  }
  if (sealed == null) return message;
  const url = mailTargetUrl(context.publicUrl, context.sealer.open(sealed, sealedFor).toString());
  const link = { purpose: 'unsubscribe', label: unsubscribeLabels[message.locale], url } as const;
  return { ...message, links: [...message.links.filter(({ purpose }) => purpose !== 'unsubscribe'), link] };
}

/** Keeps what a failed sending means for the ones that follow, and tells the owner what they have to do. */
async function keepFailure(
  context: Context,
  request: DeliverRequest,
  { channel, target, sender }: Ready,
  error: DeliveryError,
): Promise<void> {
  const tell = async (tx: Transaction, letter: ReturnType<typeof targetDisabledLetter>): Promise<void> => {
    if (sender.email === null || !sender.email_verified) return;
    await enqueueMail(tx, context.sealer, { to: sender.email, ...renderLetter(letter) });
  };
  const { config_id: configId, settings_version: settingsVersion } = sender;
  const config = configId === null || settingsVersion === null ? null : { id: configId, settingsVersion };
  await context.database.worker.transaction(async (tx) => {
    if (error.fault === 'target') {
      const place = { ownerId: request.ownerId, channel: channel.name, target };
      if (channel.name === 'web-push' && (await hasBrowser(context, request.ownerId, tx, target))) return;
      if (!(await disableTarget(tx, place, config, error.message))) return;
      const facts = { channel: channel.title, target: channel.target.mask(target), error: error.message };
      return tell(tx, targetDisabledLetter(sender.locale, facts));
    }
    const isFinal = error.fault !== 'passing' || request.isLastAttempt === true;
    if (!isFinal || config === null) return;
    const reason = await noteFailure(tx, config, {
      code: error.code,
      message: error.message,
      isRefused: error.fault === 'configuration',
    });
    if (reason === null) return;
    await tell(tx, configDisabledLetter(sender.locale, { channel: channel.title, reason, error: error.message }));
  });
}

function notConfigured(message: string): DeliveryError {
  return new DeliveryError('not_configured', 'configuration', message);
}

function failed(error: DeliveryError, latencyMs: number): DeliverResult {
  const { code, fault, message, retryAfterMs } = error;
  return { ok: false, latencyMs, code, fault, message, retryAfterMs };
}
