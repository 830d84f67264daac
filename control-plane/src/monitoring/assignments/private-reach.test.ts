import t from 'tap';
import { centralRanges, noReach, privateTargetsBasis, probeTargets, unreachableTarget } from './private-reach.ts';

const granted = { isAdministrators: false, ranges: ['10.1.0.0/16'] };
const administrators = { isAdministrators: true, ranges: [] };

void t.test('the control plane reaches for a workspace what everybody, it, and administrators may', (t) => {
  const installation = { allowedPrivateTargets: ['10.9.0.0/16'], administratorPrivateTargets: ['127.0.0.0/8'] };
  t.same(centralRanges(installation, noReach), ['10.9.0.0/16']);
  t.same(centralRanges(installation, granted), ['10.9.0.0/16', '10.1.0.0/16']);
  t.same(centralRanges(installation, administrators), ['10.9.0.0/16', '127.0.0.0/8']);
  t.same(centralRanges({ allowedPrivateTargets: [] }, administrators), []);
  t.end();
});

void t.test(
  'a shared probe limits all but workspaces of administrators; a private probe has its own list only',
  (t) => {
    const shared = { isPrivate: false };
    t.same(probeTargets([], noReach, shared), { all: false, ranges: [] });
    t.same(probeTargets(['10.9.0.0/16', '10.1.0.0/16'], granted, shared), {
      all: false,
      ranges: ['10.9.0.0/16', '10.1.0.0/16'],
    });
    t.same(probeTargets(['10.9.0.0/16'], administrators, shared), { all: true, ranges: [] });
    t.same(probeTargets([], noReach, { isPrivate: true }), { all: true, ranges: [] });
    t.equal(privateTargetsBasis(['b', 'a', 'a']), privateTargetsBasis(['a', 'b']), 'the order is no change');
    t.not(privateTargetsBasis(['a']), privateTargetsBasis([]));
    t.not(privateTargetsBasis([]), '', 'that of a control plane which knows none');
    t.end();
  },
);

void t.test('a target that shows a private address is known before it is checked; names are not', (t) => {
  const why = (url: string, protocol = 'http', ranges: readonly string[] = ['10.1.0.0/16']) =>
    unreachableTarget({ protocol, url }, ranges) !== undefined;
  for (const url of [
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433:8080/',
    'http://[::1]/',
    'http://[::ffff:10.2.0.1]/',
    'http://localhost:3000',
    'http://a.localhost/',
    '10.2.0.1:22',
    'http://169.254.169.254/latest/meta-data/',
  ])
    t.ok(why(url), url);
  for (const url of [
    'http://10.1.2.3/',
    'http://[::ffff:10.1.2.3]/',
    'http://8.8.8.8/',
    'https://intranet.example/',
    '',
  ])
    t.notOk(why(url), url);
  t.notOk(why('localhost', 'tcp', ['127.0.0.0/8']), 'one of its addresses is enough');
  t.notOk(why('10.2.0.1', 'dnsbl'), 'it is asked about, not dialled');
  t.end();
});
