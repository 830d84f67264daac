import t from 'tap';
import { isOfResponse } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of incidents or maintenance', { timeout: 170_000 }, (t) =>
  sendHostile(t, isOfResponse, 18),
);
