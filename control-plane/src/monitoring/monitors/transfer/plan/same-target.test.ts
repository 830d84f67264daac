import t from 'tap';
import { normalTarget } from './same-target.ts';

void t.test('ways to write one target have one normal form, and what differs keeps differing', async (t) => {
  const same: readonly (readonly string[])[] = [
    ['http', 'http://example.org/', 'HTTP://Example.org:80', 'http://EXAMPLE.org', 'http://example.org/#top'],
    ['https', 'https://example.org/a/c?q=1', 'https://example.org:443/a/b/../c?q=1'],
    ['https', 'https://xn--bcher-kva.example/', 'https://Bücher.example'],
    ['ping', 'router.example', 'Router.Example'],
    ['tcp', 'mail.example:25', 'MAIL.example:25'],
    ['postgres', 'postgres://Me@db.example/Shop', 'POSTGRES://Me@DB.example/Shop'],
  ];
  for (const [protocol = '', first = '', ...others] of same)
    for (const other of others) t.equal(normalTarget(protocol, other), normalTarget(protocol, first), other);
  const different: readonly (readonly [string, string, string])[] = [
    ['http', 'http://example.org/A', 'http://example.org/a'],
    ['http', 'http://example.org:8080/', 'http://example.org/'],
    ['http', 'http://example.org/?a=1', 'http://example.org/?a=2'],
    ['postgres', 'postgres://Me@db.example/Shop', 'postgres://me@db.example/shop'],
    ['docker', '/var/run/Docker.sock', '/var/run/docker.sock'],
  ];
  for (const [protocol, one, other] of different)
    t.not(normalTarget(protocol, one), normalTarget(protocol, other), `${one} ${other}`);
});
