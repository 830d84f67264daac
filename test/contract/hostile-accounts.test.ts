import t from 'tap';
import { isOfAccount } from './hostile/parts.ts';
import { sendHostile } from './hostile/requests.ts';

t.test('nothing that comes in is our fault, on a route of accounts or workspaces', { timeout: 580_000 }, (t) =>
  sendHostile(t, isOfAccount, 60),
);
