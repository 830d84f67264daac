import t from 'tap';
import { isOfSignals } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of heartbeats or webhook checks', { timeout: 580_000 }, (t) =>
  sendHostile(t, isOfSignals, 20),
);
