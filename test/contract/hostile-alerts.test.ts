import t from 'tap';
import { isOfAlerts } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of alerts, events or webhooks', { timeout: 580_000 }, (t) =>
  sendHostile(t, isOfAlerts, 28),
);
