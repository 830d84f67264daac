import t from 'tap';
import { isOfStatusPages } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of status pages or badges', { timeout: 300_000 }, (t) =>
  sendHostile(t, isOfStatusPages, 25),
);
