import { checkTypeOf, probeCapabilities, protocols } from '@parallax/checks';
import t from 'tap';
import { isAble } from './choose.ts';
import { requiredCapabilities } from './requirements.ts';

t.test('what a check needs comes from its type, its target and its settings', async (t) => {
  const needs = (protocol: string, settings: unknown = {}, url = 'a.test') =>
    requiredCapabilities(protocol, url, settings);
  t.same(needs('https'), []);
  t.same(needs('icmp'), ['icmp']);
  t.same(needs('pagespeed'), ['browser']);
  t.same(needs('traceroute', { ip_version: 6 }), ['traceroute', 'ipv6']);
  t.same(needs('docker', {}, 'unix:///var/run/docker.sock'), ['docker']);
  t.same(needs('docker', {}, 'https://docker.test:2376'), []);
  t.same(needs('https', { ip_version: 4 }), []);
  t.same(needs('of a newer version', null), []);
  for (const protocol of protocols)
    t.same(
      needs(protocol),
      checkTypeOf(protocol).requires.filter((each) => probeCapabilities.includes(each)),
      protocol,
    );
  t.equal(isAble({ capabilities: ['icmp'] }, needs('pagespeed')), false);
  t.equal(isAble({ capabilities: ['icmp', 'browser'] }, needs('pagespeed')), true);
});
