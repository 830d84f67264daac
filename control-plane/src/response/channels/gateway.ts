import type { UnusableReason } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
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
import { openSettings } from './configs/seal-settings.ts';
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
  findUnusable,
  findUsable,
  noteFailure,
  noteSuccess,
  setUnsubscribeToken,
} from './sending/queries.ts';
import type { AskedTarget } from './sending/queries.ts';
import type { SenderRow, TargetRow } from './sending/row.ts';
import { targetKey } from './sending/target-key.ts';

/** Where a message goes. */
export type Destined = {
  /** Whose configuration it is. */
  readonly ownerId: number;
  /** The neutral word or an alias. */
  readonly channel: string;
  /** Null: the owner's configuration of the channel, or none where the channel needs none. */
  readonly configId: number | null;
  readonly target: string;
};

/** A target of an alert, with whose it is and where it tells. */
export type OwnedTarget = {
  readonly ownerId: number;
  readonly workspaceId: number;
  readonly target: NamedTarget;
};

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
  context.noteDelivery(channel.name, outcome.ok ? 'sent' : outcome.error.code, outcome.latencyMs);
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

/** Of targets of owners, by whatever key, those that can be sent to now; one query for all. */
export function usableTargets(
  connection: CommonQueryMethods,
  targets: ReadonlyMap<string, OwnedTarget>,
): Promise<ReadonlySet<string>> {
  return findUsable(connection, askedOf(targets));
}

/** Of targets of owners, by whatever key, those that nothing is sent to at present, and why; one query for all. For the worker login. */
export function unusableTargets(
  worker: CommonQueryMethods,
  targets: ReadonlyMap<string, OwnedTarget>,
): Promise<ReadonlyMap<string, UnusableReason>> {
  return findUnusable(worker, askedOf(targets));
}

function askedOf(targets: ReadonlyMap<string, OwnedTarget>): AskedTarget[] {
  return [...targets].flatMap(([key, { ownerId, workspaceId, target }]) => {
    const channel = channelOf(target.channel);
    if (channel === undefined) return [];
    const needsConfig = !channel.settings.safeParse({}).success;
    const place = { channel: channel.name, configId: target.config_id, target: target.target };
    return [{ key, ownerId, workspaceId, ...place, needsConfig }];
  });
}

/** Whether it is a service that keeps open what it was told until it is told of its end. */
export function keepsOpen({ channel }: Pick<Destined, 'channel'>): boolean {
  return channelOf(channel)?.closes === true;
}

/** The same real target has the same key, whoever named it in whatever way it was stored. */
export function targetKeyOf({ channel: name, ownerId, target }: Destined): string {
  const channel = channelOf(name);
  return channel === undefined ? `${name}:${ownerId}:${target}`.slice(0, 100) : targetKey(channel, ownerId, target);
}

/** A target as others may see it. */
export function maskTarget({ channel: name, target }: Pick<Destined, 'channel' | 'target'>): string {
  const channel = channelOf(name);
  return channel === undefined ? '…' : channel.target.mask(target);
}

/** What a target that somebody names is worth: in the form in which it is stored, or what is wrong with it. */
export type TargetVerdict<Target extends NamedTarget> =
  | { readonly ok: true; readonly target: Target }
  | {
      readonly ok: false;
      readonly field: 'channel' | 'config_id' | 'target';
      readonly code: string;
      readonly message: string;
    };
export type NamedTarget = { readonly channel: string; readonly config_id: number | null; readonly target: string };

/**
 * Judges targets against the configurations of the scope's user, one query for each channel that they name. A configuration of somebody else is
 * like one that is not there. Consent of mail addresses is no matter here: its reader is asked, and it may come later. For a chat nobody is asked, and
 * its number becomes known by linking it, so one that is not linked is a mistake, or a stranger's.
 * @param kept targets that stood before: what has become of them since is shown, and hinders no change of others
 */
export async function judgeTargets<Target extends NamedTarget>(
  context: Pick<Context, 'sealer'>,
  scope: Scope,
  tx: Transaction,
  targets: readonly Target[],
  kept: readonly NamedTarget[],
): Promise<readonly TargetVerdict<Target>[]> {
  const names = [...new Set(targets.map(({ channel }) => channelOf(channel)?.name ?? ''))].filter(
    (name) => name !== '',
  );
  const senders = new Map<string, SenderRow | null>();
  for (const name of names) senders.set(name, await findSender(tx, scope.userId ?? 0, name, null));
  const judged = async (given: Target): Promise<TargetVerdict<Target>> => {
    const channel = channelOf(given.channel);
    if (channel === undefined) {
      return { ok: false, field: 'channel', code: 'unknown_channel', message: `there is no channel ${given.channel}` };
    }
    const sender = senders.get(channel.name) ?? null;
    const isForeign = given.config_id !== null && sender?.config_id !== given.config_id;
    if (isForeign) {
      const message = `you have no configuration ${given.config_id} of the channel ${channel.name}`;
      return { ok: false, field: 'config_id', code: 'not_found', message };
    }
    const settings = settingsOf(context, channel, sender);
    if (settings === undefined) {
      return { ok: false, field: 'config_id', code: 'not_configured', message: `configure ${channel.title} first` };
    }
    const read = channel.target.parse(given.target, settings);
    if (!read.ok) return { ok: false, field: 'target', code: 'invalid_target', message: read.problem };
    const target = { ...given, channel: channel.name, target: read.target };
    if (kept.some((before) => isSamePlace(before, target))) return { ok: true, target };
    const place = { channel: channel.name, settings, userId: scope.userId ?? 0, target: read.target };
    const unreached = await reachProblem(tx, place);
    if (unreached !== undefined) return { ok: false, field: 'target', code: 'chat_not_linked', message: unreached };
    return { ok: true, target };
  };
  const verdicts: TargetVerdict<Target>[] = [];
  for (const given of targets) verdicts.push(await judged(given));
  return verdicts;
}

const isSamePlace = (one: NamedTarget, other: NamedTarget): boolean =>
  one.channel === other.channel && one.config_id === other.config_id && one.target === other.target;

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

/** Settings of a configuration, or of none where the channel can do without; undefined when it cannot, or they are no longer good. */
function settingsOf(
  context: Pick<Context, 'sealer'>,
  channel: AnyChannel,
  sender: SenderRow | null,
): AnySettings | undefined {
  const stored =
    sender?.config_id == null || sender.sealed_settings === null
      ? {}
      : openSettings(context.sealer, sender.config_id, sender.sealed_settings);
  return channel.settings.safeParse(stored).data;
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
