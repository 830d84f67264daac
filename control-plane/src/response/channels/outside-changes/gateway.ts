import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { AnySettings } from '../channel.ts';
import {
  countConfigs,
  enableTargets,
  findConfigOfChannel,
  insertConfig,
  lockConfig,
  lockConfigs,
  nextConfigId,
  writeConfig,
} from '../configs/queries.ts';
import { openSettings, sealSettings } from '../configs/seal-settings.ts';
import { channelOf } from '../registry.ts';
import { freeKey } from './free-key.ts';
import { configsOfOwners, noteGivenUp } from './queries.ts';

/** A place that a service itself let somebody choose, by a URL that is the credential. */
export type GivenDestination = { readonly name: string; readonly url: string };

/** Whose configuration it goes into. */
export type DestinationOwner = {
  readonly userId: number;
  /** Configurations that the plan of the user has place for; undefined: any number. */
  readonly most: number | undefined;
  readonly request: Pick<RequestFacts, 'remoteAddress' | 'requestId'>;
};

/** Under which key it was kept, or why not: the settings would not be good (too many destinations, a URL of elsewhere), or the plan is full. */
export type AddedDestination =
  | { readonly kind: 'added'; readonly key: string }
  | { readonly kind: 'refused' | 'too_many_channels' };

/** Adds a destination to the user's configuration of a channel, which is made where there is none; the same URL is kept once, under its new name. */
export async function addDestination(
  context: Pick<Context, 'database' | 'sealer'>,
  channelName: string,
  owner: DestinationOwner,
  given: GivenDestination,
): Promise<AddedDestination> {
  const channel = channelOf(channelName);
  if (channel === undefined) return { kind: 'refused' };
  const scope: Scope = { userId: owner.userId, workspaceIds: [] };
  const caller: Pick<Caller, 'kind' | 'userId'> = { kind: 'user', userId: owner.userId };
  return inScope(context.database.api, scope, async (tx): Promise<AddedDestination> => {
    await lockConfigs(scope, tx);
    const found = await findConfigOfChannel(scope, tx, channel.name);
    const row = found === null ? null : await lockConfig(scope, tx, found.id);
    const stored: AnySettings = row === null ? {} : openSettings(context.sealer, row.id, row.sealed_settings);
    const before = destinationsOf(stored);
    const key = before.find(({ url }) => url === given.url)?.key ?? freeKey(given.name, before);
    const kept = before.filter((each) => each.key !== key);
    const settings = channel.settings.safeParse({ ...stored, destinations: [...kept, { ...given, key }] });
    if (!settings.success) return { kind: 'refused' };
    const id = row?.id ?? (await nextConfigId(tx));
    const sealedSettings = sealSettings(context.sealer, id, settings.data);
    if (row !== null) {
      await writeConfig(tx, id, { name: row.name, sealedSettings, isActive: row.is_active ? undefined : true });
      await enableTargets(scope, tx, channel.name);
    } else {
      if (owner.most !== undefined && (await countConfigs(scope, tx)) >= owner.most)
        return { kind: 'too_many_channels' };
      await insertConfig(scope, tx, { id, channel: channel.name, name: channel.title, sealedSettings, isActive: true });
    }
    await recordAudit(tx, caller, owner.request, {
      action: row === null ? 'alert_channel_config.created' : 'alert_channel_config.updated',
      subjectType: 'alert_channel_config',
      subjectId: id,
      detail: { channel: channel.name },
    });
    return { kind: 'added', key };
  });
}

/**
 * The installation's bot reaches some targets no more. Who has set a bot of their own writes by that, and is told nothing by it; the others' targets
 * are given up. For the worker login.
 */
export async function giveUpTargets(
  context: Pick<Context, 'database' | 'sealer'>,
  channelName: string,
  targets: readonly { readonly ownerId: number; readonly target: string }[],
  reason: string,
): Promise<void> {
  const { worker } = context.database;
  const rows = await configsOfOwners(worker, channelName, [...new Set(targets.map(({ ownerId }) => ownerId))]);
  const byThemselves = new Set(
    rows
      .filter((row) => openSettings(context.sealer, row.id, row.sealed_settings)['bot_token'] !== undefined)
      .map((row) => row.user_id),
  );
  await noteGivenUp(
    worker,
    channelName,
    targets.filter(({ ownerId }) => !byThemselves.has(ownerId)),
    reason,
  );
}

type Kept = { readonly key: string; readonly url: string };

function destinationsOf(settings: AnySettings): readonly Kept[] {
  const { destinations } = settings;
  return Array.isArray(destinations) ? (destinations as readonly Kept[]) : [];
}
