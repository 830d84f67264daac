import type { CommonQueryMethods } from 'slonik';
import type { Context } from '../../../context.ts';
import type { AnySettings } from '../channel.ts';
import { openSettings } from '../configs/seal-settings.ts';
import { channelOf } from '../registry.ts';
import type { AnyChannel } from '../registry.ts';
import { findVersions, readSealed } from './queries.ts';
import type { ConfigVersion } from './queries.ts';
import { targetKey } from './target-key.ts';

/** A target as somebody names it. */
export type Named = { readonly ownerId: number; readonly channel: string; readonly target: string };

/** Keys that are kept in memory, of about 200 bytes each. */
const mostKept = 50_000;

/**
 * Makes keys of what targets really reach. Settings are opened once for each version of a configuration and target: a storm asks for the same ones
 * again and again.
 */
export function createReachedKeys({ sealer }: Pick<Context, 'sealer'>) {
  const kept = new Map<string, string>();
  return async (connection: CommonQueryMethods, targets: readonly Named[]): Promise<(of: Named) => string> => {
    const depending = targets.filter((each) => channelOf(each.channel)?.target.reaches !== undefined);
    const versions = await findVersions(connection, distinctSenders(depending));
    const missing = depending.flatMap((each) => {
      const version = versions.get(senderKey(each));
      return version === undefined || kept.has(keptKey(version, each)) ? [] : [{ each, version }];
    });
    if (kept.size + missing.length > mostKept) kept.clear();
    const sealed = await readSealed(connection, [...new Set(missing.map(({ version }) => version.id))]);
    for (const { each, version } of missing) {
      const channel = channelOf(each.channel);
      const found = sealed.get(version.id);
      // Of settings that have changed since, the next asking tells.
      if (channel === undefined || found === undefined || found.version !== version.version) continue;
      kept.set(keptKey(version, each), keyOf(channel, each, settingsOf(channel, version.id, found.sealed)));
    }
    return (of) => {
      const version = versions.get(senderKey(of));
      const found = version === undefined ? undefined : kept.get(keptKey(version, of));
      return found ?? keyOf(channelOf(of.channel), of, undefined);
    };
  };

  function settingsOf(channel: AnyChannel, configId: number, sealed: Uint8Array): AnySettings | undefined {
    try {
      return channel.settings.safeParse(openSettings(sealer, configId, sealed)).data;
    } catch {
      // Who sends by it is told so; until then it is a target of its own.
      return undefined;
    }
  }
}

function keyOf(
  channel: AnyChannel | undefined,
  { ownerId, channel: name, target }: Named,
  settings: AnySettings | undefined,
): string {
  return channel === undefined
    ? `${name}:${ownerId}:${target}`.slice(0, 100)
    : targetKey(channel, ownerId, target, settings);
}

const senderKey = ({ ownerId, channel }: Named): string => `${ownerId} ${channelOf(channel)?.name ?? channel}`;

const keptKey = ({ id, version }: ConfigVersion, { target }: Named): string => `${id} ${version} ${target}`;

function distinctSenders(targets: readonly Named[]): readonly { readonly ownerId: number; readonly channel: string }[] {
  const senders = targets.map(({ ownerId, channel }) => ({ ownerId, channel: channelOf(channel)?.name ?? channel }));
  return [...new Map(senders.map((each) => [senderKey({ ...each, target: '' }), each])).values()];
}
