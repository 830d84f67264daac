import t from 'tap';
import { isOfNoneElse } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on any other route', { timeout: 580_000 }, (t) =>
  sendHostile(t, isOfNoneElse, 25),
);
