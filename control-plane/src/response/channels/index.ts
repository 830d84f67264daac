import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { configRoutes } from './configs/routes.ts';
import { mailTargetRoutes } from './mail-targets/routes.ts';
import { trialRoutes } from './trials/routes.ts';

/** How people are told: configurations of channels, their tests, and the consent of those who read mail. */
export const channelsCapability: Capability<Context> = {
  name: 'channels',
  routes: (context) => [...configRoutes(context), ...trialRoutes(context), ...mailTargetRoutes(context)],
};

export { DeliveryError } from './delivery-error.ts';
export { isRoomUrl, roomTitle, sendToRoom } from './rooms.ts';
export type { RoomContext } from './rooms.ts';
export { retryAfterMs } from './retry-after.ts';
export { deliver, isUsable, takeUpBrowser } from './gateway.ts';
export type { DeliverRequest, DeliverResult } from './gateway.ts';
export { judgeTargets, keepsOpen, maskTarget, targetKeyOf, unusableTargets, usableTargets } from './targets/gateway.ts';
export type { Destined, NamedTarget, OwnedTarget, TargetVerdict } from './targets/gateway.ts';
export { createReachedKeys } from './sending/reached-keys.ts';
export { askNewReaders } from './mail-targets/gateway.ts';
export { createDeliveryMetrics } from './delivery-metrics.ts';
export { channelsThatKeepOpen, replaceableChannels } from './registry.ts';
export { addDestination, giveUpTargets } from './outside-changes/gateway.ts';
export type { AddedDestination, DestinationOwner, GivenDestination } from './outside-changes/gateway.ts';
export { takeTargetBack } from './outside-changes/queries.ts';
export { channelNamed } from './configs/require-channel.ts';
export { recordTest } from './trials/record.queries.ts';
export { testMessage } from './trials/test-message.ts';
export type { ChannelSettings, TeamChatApp } from './operator-settings.ts';
