import t from 'tap';
import { isOfReports } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of scheduled reports', { timeout: 170_000 }, (t) =>
  sendHostile(t, isOfReports, 14),
);
