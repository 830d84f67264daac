import t from 'tap';
import { forwardedHost, mappedUrl } from './mapped-hosts.ts';

t.test('whatever a request asks for at a mapped host lies below the prefix', async (t) => {
  const of = (url: string): string => mappedUrl(url, '/status/shop');
  t.same(['/', '', '/?lang=ru', '?lang=ru', '/history', '/history?x=/', '//x', '/../x', '*', 'x'].map(of), [
    '/status/shop',
    '/status/shop',
    '/status/shop?lang=ru',
    '/status/shop?lang=ru',
    '/status/shop/history',
    '/status/shop/history?x=/',
    '/status/shop//x',
    '/status/shop/../x',
    '/status/shop/*',
    '/status/shop/x',
  ]);
  const absolute = ['http://parallax.example/api/v1/monitors', 'HTTPS://parallax.example:8443', 'http://u@x?lang=ru'];
  t.same(absolute.map(of), ['/status/shop/api/v1/monitors', '/status/shop', '/status/shop?lang=ru']);
});

t.test('of forwarded hosts the one that the nearest proxy has added counts', async (t) => {
  t.equal(forwardedHost(undefined), undefined);
  t.equal(forwardedHost('a.example'), 'a.example');
  t.equal(forwardedHost('a.example, b.example '), 'b.example');
  t.equal(forwardedHost(['a.example', 'b.example,c.example']), 'c.example');
  t.equal(forwardedHost(''), '');
});
