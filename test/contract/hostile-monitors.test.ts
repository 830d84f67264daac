import t from 'tap';
import { isOfMonitors } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of monitors', { timeout: 580_000 }, (t) =>
  sendHostile(t, isOfMonitors, 30),
);
