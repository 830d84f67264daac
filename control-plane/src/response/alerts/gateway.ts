import type { Context } from '../../context.ts';
import {
  channelsThatKeepOpen,
  createReachedKeys,
  deliver,
  keepsOpen,
  maskTarget,
  usableTargets,
} from '../channels/index.ts';
import { asText, compose } from '../messages/index.ts';
import type { AlertTarget } from './alert.ts';
import type { AlertParts } from './channels-gateway.ts';
import { makeAlertLinks } from './links/gateway.ts';

const textCharacters = 4_000;
const errorCharacters = 1_000;

/** What the engine acts with: the channels and messages of this process. */
export function alertParts(context: Context): AlertParts {
  const reachedKeys = createReachedKeys(context);
  return {
    channels: {
      keysOf: async (connection, targets) => {
        const keyOf = await reachedKeys(
          connection,
          targets.map(({ ownerId, target }) => ({ ownerId, ...target })),
        );
        return (ownerId, target) => keyOf({ ownerId, ...target });
      },
      maskTarget: (target) => maskTarget(target),
      keepsOpen,
      keepingOpen: channelsThatKeepOpen,
      usable: usableTargets,
      deliver: async ({ target, ...place }, message, isLastAttempt) => {
        const sent = await deliver(context, { ...place, ...destined(target), message, isLastAttempt });
        const latencyMs = Math.round(sent.latencyMs);
        return sent.ok
          ? { ok: true, latencyMs, reference: sent.reference ?? null }
          : { ...sent, latencyMs, message: sent.message.slice(0, errorCharacters) };
      },
    },
    compose,
    // Histories are read by viewers: what acknowledges, snoozes or unsubscribes is only in the message itself.
    asText: (message) =>
      asText(
        { ...message, links: message.links.filter(({ purpose }) => purpose === 'open') },
        { most: textCharacters },
      ),
    noteTold: context.deliveryMetrics.told,
    linksFor: (connection, requests) => makeAlertLinks(connection, context.publicUrl, requests),
  };
}

const destined = ({ channel, config_id: configId, target }: AlertTarget) => ({ channel, configId, target });
