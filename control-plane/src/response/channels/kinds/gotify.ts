import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText, webAddress } from '../setting-shapes.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import { isAccepted, meaningForDestination, notFoundByProxy, refusal } from './shared/refusal.ts';
import { urgencyOf } from './shared/urgency.ts';

const service = 'Gotify';

const settings = z.strictObject({
  server_url: webAddress.describe('Address of the server.'),
  destinations: destinationsWith({ token: secretText(200).describe('Token of the application.') }),
});
type Settings = z.infer<typeof settings>;

/** Gotify by the message resource: an application's token says to whom it goes. Repetitions have no key, lengths no documented limit. */
export const gotify: Channel<Settings> = {
  name: 'gotify',
  title: service,
  documentation: 'https://gotify.net/docs/pushmsg',
  setup: 'In Gotify open "Apps", create an application for each recipient and copy its token into a destination.',
  settings,
  secrets: ['destinations[].token'],
  target: destinationTarget('key of a Gotify application'),
  render: (message) => {
    const url = openLink(message);
    return {
      title: cut(message.title, 200),
      message: layOut(message, plain, 4000, { title: false }) || message.title,
      priority: priorities[urgencyOf(message)],
      extras: {
        'client::display': { contentType: 'text/plain' },
        ...(url === undefined ? {} : { 'client::notification': { click: { url } } }),
      },
    };
  },
  send: async (content, { settings, target }, io) => {
    const { token } = destinationOf(settings, target);
    const answer = await io.request({
      method: 'POST',
      url: `${settings.server_url.replace(/\/+$/, '')}/message`,
      // A header: in the query the token would stand in the logs of proxies.
      headers: { 'x-gotify-key': token },
      body: content,
      secrets: [token],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'id'));
    const detail = fieldOf(answer, 'errorDescription');
    throw refusal(answer, {
      title: service,
      meaning:
        notFoundByProxy(answer, typeof fieldOf(answer, 'errorCode') === 'number') ??
        meaningForDestination(answer.status),
      detail,
      secrets: [token],
      now: io.now(),
    });
  },
};

/** From 8 on the Android app sounds and vibrates, from 4 on it sounds, from 1 on it shows an icon. */
const priorities = { loud: 10, high: 8, usual: 5, quiet: 2 } as const;
