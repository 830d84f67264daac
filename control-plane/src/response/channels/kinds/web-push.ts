import { z } from 'zod';
import type { Channel, ChannelIo, SubscribedBrowser } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import { mostPayloadBytes, notificationOf, shortPayloadBytes } from './web-push/notification.ts';
import { noBrowser, outcomeOf, settle } from './web-push/outcome.ts';
import type { Outcome } from './web-push/outcome.ts';
import { pushRequest, subjectOf, treatmentOf } from './web-push/request.ts';
import type { Sender, Treatment } from './web-push/request.ts';

const settingsSchema = z.strictObject({});
type Settings = z.output<typeof settingsSchema>;

type Content = { readonly full: string; readonly short: string; readonly treatment: Treatment };

/** Notifications of browsers, through the push service of each browser's maker. */
export const webPush: Channel<Settings, Content> = {
  name: 'web-push',
  title: 'Web push',
  documentation: 'https://www.rfc-editor.org/rfc/rfc8030',
  setup:
    'Open the console in the browser that is to be told and allow notifications; docs/web-push.md says how a page of yours subscribes one. ' +
    'The target is `all`, for all browsers of the account, or the `id` of one of them from `GET /web-push/subscriptions`. ' +
    'Phones show notifications of pages that were added to the home screen.',
  settings: settingsSchema,
  secrets: [],
  target: {
    label: '`all`, or the id of a subscription',
    example: 'all',
    parse: (text) => {
      const typed = text.trim().toLowerCase();
      if (typed === 'all') return { ok: true, target: 'all' };
      if (/^[0-9]{1,10}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= 2_147_483_647) {
        return { ok: true, target: String(Number(typed)) };
      }
      return { ok: false, problem: 'must be `all` or the id of a subscription' };
    },
    mask: (target) => target,
  },
  render: (message) => ({
    full: notificationOf(message, mostPayloadBytes),
    short: notificationOf(message, shortPayloadBytes),
    treatment: treatmentOf(message),
  }),
  send: async (content, { target }, io) => {
    if (io.browsers === undefined)
      throw new DeliveryError('not_configured', 'configuration', 'Web push is not available here.');
    const browsers = await io.browsers.find(target === 'all' ? null : Number(target));
    if (browsers.length === 0) throw noBrowser(target);
    const sender = { ...(await io.browsers.vapidKeys()), subject: subjectOf(io.publicUrl) };
    const told = await Promise.all(
      browsers.map(async (browser) => ({ id: browser.id, outcome: await tell(browser, content, sender, io) })),
    );
    const thatAre = (kind: Outcome['kind']) => told.filter(({ outcome }) => outcome.kind === kind).map(({ id }) => id);
    const [gone, taken] = [thatAre('gone'), thatAre('taken')];
    if (gone.length > 0) await io.browsers.remove(gone);
    if (taken.length > 0) await io.browsers.noteDelivered(taken);
    settle(
      told.map(({ outcome }) => outcome),
      target,
    );
    return {};
  },
};

/** Sends to one browser, and again in short where its push service takes less. What fails is an outcome like any other: others go on. */
async function tell(browser: SubscribedBrowser, content: Content, sender: Sender, io: ChannelIo): Promise<Outcome> {
  try {
    const outcome = outcomeOf(
      await io.request(pushRequest(browser, content.full, sender, content.treatment)),
      io.now(),
    );
    if (outcome.kind !== 'too_large') return outcome;
    return outcomeOf(await io.request(pushRequest(browser, content.short, sender, content.treatment)), io.now());
  } catch (error) {
    if (error instanceof DeliveryError) return { kind: 'failed', error };
    throw error;
  }
}
