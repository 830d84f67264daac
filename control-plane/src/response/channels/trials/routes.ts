import {
  channelAvailabilityRoute,
  invalidInput,
  Problem,
  testChannelConfigRoute,
  testSendRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countTrial } from '../../../identity/unconfirmed/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { allConfigs, findConfig, findConfigOfChannel } from '../configs/queries.ts';
import { readSettings } from '../configs/read-settings.ts';
import { requireChannel } from '../configs/require-channel.ts';
import type { ConfigRow } from '../configs/row.ts';
import { openSettings } from '../configs/seal-settings.ts';
import type { OperatorChannels } from '../channel.ts';
import { channels } from '../registry.ts';
import { sendTest } from './gateway.ts';
import type { Tester } from './gateway.ts';
import { onlyTarget } from './only-target.ts';
import { readTester } from './queries.ts';

/** Which channels there are, and how they are tried. */
export function trialRoutes(context: Context): readonly Route[] {
  return [
    handle(channelAvailabilityRoute, async ({ caller }) => {
      const scope = scopeOf(caller);
      const rows = await inScope(context.database.api, scope, (tx) => allConfigs(scope, tx));
      const configs = new Map(rows.map((row) => [row.channel, row]));
      const operator = operatorChannels(context);
      return {
        channels: channels.map((channel) => {
          const config = configs.get(channel.name);
          const reason = channel.missing?.(operator) ?? null;
          return {
            channel: channel.name,
            title: channel.title,
            aliases: [...(channel.aliases ?? [])],
            available: reason === null,
            reason,
            needs_config: !(channel.sendsWithoutConfig?.(operator) ?? channel.settings.safeParse({}).success),
            configured: config !== undefined,
            config_id: config?.id ?? null,
            is_active: config?.is_active ?? false,
            target_label: channel.target.label,
            target_example: channel.target.example,
            documentation: channel.documentation,
          };
        }),
      };
    }),

    handle(testSendRoute, async ({ body, caller, request }) => {
      await countTrial(context, caller);
      const channel = requireChannel(body.channel, '/channel');
      const given = body.settings == null ? undefined : readSettings(channel, body.settings);
      const { tester, row } = await facts(context, caller, channel.name, body.config_id ?? null);
      if (body.config_id != null && row === null) {
        const message = `you have no configuration ${body.config_id} of the channel ${channel.name}`;
        throw invalidInput('body', '/config_id', 'not_found', message);
      }
      const stored = row === null ? {} : openSettings(context.sealer, row.id, row.sealed_settings);
      return sendTest(context, request, tester, {
        channel,
        settings: given ?? readSettings(channel, stored),
        target: body.target,
        configId: row?.id ?? null,
      });
    }),

    handle(testChannelConfigRoute, async ({ params, body, caller, request }) => {
      await countTrial(context, caller);
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, (tx) => findConfig(scope, tx, params.config_id));
      if (row === null) throw new Problem('not_found', 'there is no such alert channel configuration');
      const channel = requireChannel(row.channel, '/channel');
      const settings = readSettings(channel, openSettings(context.sealer, row.id, row.sealed_settings));
      const { tester } = await facts(context, caller, channel.name, row.id);
      const target = body?.target ?? onlyTarget(channel, settings, tester.email);
      if (target === undefined) {
        throw invalidInput('body', '/target', 'required', `name the target: ${channel.target.label}`);
      }
      return sendTest(context, request, tester, { channel, settings, target, configId: row.id });
    }),
  ];
}

/** What the operator has set, as channels ask for it. */
export function operatorChannels(context: Pick<Context, 'channels' | 'signIn'>): OperatorChannels {
  return {
    hasMailServer: context.channels.hasMailServer,
    hasMessengerBot: context.signIn.messengerBotToken !== undefined,
    hasTeamChatApp: context.channels.hasTeamChatApp,
  };
}

async function facts(
  context: Context,
  caller: Caller,
  channel: string,
  configId: number | null,
): Promise<{ readonly tester: Tester; readonly row: ConfigRow | null }> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (tx) => {
    const user = await readTester(scope, tx);
    const row = await findConfigOfChannel(scope, tx, channel);
    return {
      tester: {
        userId: caller.userId,
        email: user.email,
        isVerified: user.email_verified,
        locale: user.locale,
        timezone: user.timezone,
      },
      row: configId === null || row?.id === configId ? row : null,
    };
  });
}
