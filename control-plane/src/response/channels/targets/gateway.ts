import type { InputErrorCode, UnusableReason } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { reachProblem } from '../chat-reach/gateway.ts';
import { channelOf } from '../registry.ts';
import { findSender, findUnusable, findUsable } from '../sending/queries.ts';
import type { AskedTarget } from '../sending/queries.ts';
import type { SenderRow } from '../sending/row.ts';
import { settingsOf } from '../sending/settings-of.ts';
import { targetKey } from '../sending/target-key.ts';

/* What is asked about targets without sending anything: what they are called, whether they are good, and whether they can be sent to. */

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
      readonly code: InputErrorCode;
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
  const verdicts: TargetVerdict<Target>[] = [];
  for (const given of targets) {
    const sender = senders.get(channelOf(given.channel)?.name ?? '') ?? null;
    const verdict = judgeTarget(context, sender, given);
    const isNew = verdict.ok && !kept.some((before) => isSamePlace(before, verdict.target));
    verdicts.push(isNew ? await judgeReach(context, scope, tx, sender, verdict.target) : verdict);
  }
  return verdicts;
}

function judgeTarget<Target extends NamedTarget>(
  context: Pick<Context, 'sealer'>,
  sender: SenderRow | null,
  given: Target,
): TargetVerdict<Target> {
  const channel = channelOf(given.channel);
  if (channel === undefined) {
    return { ok: false, field: 'channel', code: 'unknown_channel', message: `there is no channel ${given.channel}` };
  }
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
  return { ok: true, target: { ...given, channel: channel.name, target: read.target } };
}

/** Whether the installation's bot may write to a chat for the scope's user; of other channels there is nothing to ask. */
async function judgeReach<Target extends NamedTarget>(
  context: Pick<Context, 'sealer'>,
  scope: Scope,
  tx: Transaction,
  sender: SenderRow | null,
  target: Target,
): Promise<TargetVerdict<Target>> {
  const channel = channelOf(target.channel);
  const settings = channel === undefined ? undefined : settingsOf(context, channel, sender);
  if (channel === undefined || settings === undefined) return { ok: true, target };
  const place = { channel: channel.name, settings, userId: scope.userId ?? 0, target: target.target };
  const unreached = await reachProblem(tx, place);
  if (unreached === undefined) return { ok: true, target };
  return { ok: false, field: 'target', code: 'chat_not_linked', message: unreached };
}

const isSamePlace = (one: NamedTarget, other: NamedTarget): boolean =>
  one.channel === other.channel && one.config_id === other.config_id && one.target === other.target;
