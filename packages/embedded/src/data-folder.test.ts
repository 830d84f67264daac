import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { chooseDataFolder, databaseAccount, isReachable } from './index.ts';

t.test('a named folder is taken as it is, else data in the checkout', (t) => {
  const checkout = mkdtempSync('/tmp/parallax-checkout-');
  t.teardown(() => rmSync(checkout, { recursive: true }));
  chmodSync(checkout, 0o755);
  t.same(chooseDataFolder({ named: 'relative', checkout }), { folder: path.resolve('relative'), isRelocated: false });
  t.same(chooseDataFolder({ named: undefined, checkout }), { folder: path.join(checkout, 'data'), isRelocated: false });
  t.same(chooseDataFolder({ named: '', checkout }), { folder: path.join(checkout, 'data'), isRelocated: false });
  t.end();
});

t.test("where PostgreSQL's account cannot get there it is a folder of this checkout's own elsewhere", (t) => {
  if (!needs(t, 'root')) return t.end();
  const closed = mkdtempSync('/tmp/parallax-checkout-');
  t.teardown(() => rmSync(closed, { recursive: true }));
  const [a, b] = ['a', 'b'].map((name) => {
    const checkout = path.join(closed, name, 'parallax');
    mkdirSync(checkout, { recursive: true });
    return chooseDataFolder({ named: undefined, checkout });
  });
  t.match(a, { isRelocated: true, folder: /^\/var\/lib\/parallax\/parallax-[0-9a-f]{8}$/ });
  t.not(a?.folder, b?.folder);
  t.equal(isReachable(closed, databaseAccount()), false);
  t.equal(isReachable('/tmp', databaseAccount()), true);
  t.end();
});
