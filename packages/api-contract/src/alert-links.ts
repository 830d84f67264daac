import { z } from 'zod';
import { route } from './route.ts';

const tag = 'Alerts';
const params = z.object({ token: z.string().min(1).max(200) });
const page = { answer: z.string(), contentType: 'text/html; charset=utf-8' };

// A link that is over answers as one that never was: who tries links learns of none that it was once good.
const alternative = { status: 404, description: 'the page that says that the link does not work (any more)' } as const;

/** The form of the page is this small. */
export const mostLinkFormBytes = 2_048;

/** Names of the buttons of the page. */
export const alertLinkActions = ['acknowledge', 'snooze_1h', 'snooze_4h', 'snooze_morning'] as const;
export type AlertLinkAction = (typeof alertLinkActions)[number];

export const alertLinkPageRoute = route({
  method: 'GET',
  path: '/alerts/snooze/:token',
  credentials: 'none',
  tag,
  summary: 'Page that a message of an alert leads to',
  description:
    'Says what the message was about, with buttons. Opening it changes nothing: programs that look at mails open links. A link that does not work, or not any more, gets 404 and a page that says so.',
  params,
  success: { status: 200, ...page },
  alternative,
  perAddressPerMinute: 60,
});

export const useAlertLinkRoute = route({
  method: 'POST',
  path: '/alerts/snooze/:token',
  credentials: 'none',
  tag,
  summary: 'Acknowledge or snooze what a message was about',
  description:
    'The form of the page: `action` is `acknowledge`, `snooze_1h`, `snooze_4h` or `snooze_morning` (until the next 9:00 of the reader). Sent again, it says the same. ' +
    'The link works until seven days after what it is about is over.',
  params,
  bytes: { maxBytes: mostLinkFormBytes },
  success: { status: 200, ...page },
  alternative,
  errors: [413],
  perAddressPerMinute: 60,
});
