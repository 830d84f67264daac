import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { mergeSettings } from './merge-settings.ts';
import { shownSettings } from './shown-settings.ts';

const channel = { secrets: ['token', 'destinations[].url', 'destinations[].secret'] };

void t.test('an absent key keeps, null clears, and what an answer says of credentials is passed over', async (t) => {
  const stored = { server: 'https://a.example', token: 'secret', topic: 'x' };
  t.same(mergeSettings(channel, stored, {}), stored);
  t.same(mergeSettings(channel, stored, { topic: null }), { server: 'https://a.example', token: 'secret' });
  t.same(mergeSettings(channel, stored, { topic: 'y', has_token: true }), { ...stored, topic: 'y' });
  t.same(mergeSettings(channel, stored, { token: 'new' }), { ...stored, token: 'new' });
});

void t.test('another host loses the credentials of the old one, another path does not', async (t) => {
  const stored = { server: 'https://a.example/base', token: 'secret' };
  t.same(mergeSettings(channel, stored, { server: 'https://a.example/other' }), {
    ...stored,
    server: 'https://a.example/other',
  });
  for (const server of [
    'https://b.example/base',
    'http://a.example/base',
    'https://a.example:444/base',
    'https://a.example.evil.example/',
  ]) {
    t.same(mergeSettings(channel, stored, { server }), { server }, server);
    t.same(mergeSettings(channel, stored, { server, token: 'again' }), { server, token: 'again' });
  }
  t.same(mergeSettings(channel, { host: 'a.example', token: 'x' }, { host: 'b.example' }), { host: 'b.example' });
  t.same(
    mergeSettings(channel, { region: 'eu', token: 'x' }, { region: 'us' }),
    { region: 'us', token: 'x' },
    'a region is no host',
  );
});

void t.test('credentials in a list go with the host that stands above it', async (t) => {
  const gotify = { secrets: ['destinations[].token'] };
  const stored = { server: 'https://a.example', destinations: [{ key: 'a', name: 'A', token: 'secret' }] };
  const bare = [{ key: 'a', name: 'A' }];
  const server = 'https://b.example';
  t.same(mergeSettings(gotify, stored, { server }), { server, destinations: bare });
  t.same(mergeSettings(gotify, stored, { server, destinations: bare }), { server, destinations: bare });
  const again = [{ key: 'a', name: 'A', token: 'again' }];
  t.same(mergeSettings(gotify, stored, { server, destinations: again }), { server, destinations: again });
  t.same(mergeSettings(gotify, stored, { server: 'https://a.example/below', destinations: bare }), {
    ...stored,
    server: 'https://a.example/below',
  });
});

void t.test('a host that is named first, or given up for the usual one, is another host', async (t) => {
  t.same(mergeSettings(channel, { token: 'secret' }, { server: 'https://b.example' }), { server: 'https://b.example' });
  t.same(mergeSettings(channel, { server: 'https://b.example', token: 'secret' }, { server: null }), {});
  const stored = { destinations: [{ key: 'a', server: 'https://a.example', secret: 's' }] };
  for (const item of [{ key: 'a', server: 'https://b.example' }, { key: 'a' }]) {
    t.same(mergeSettings(channel, stored, { destinations: [item] }), { destinations: [item] });
  }
  t.same(mergeSettings(channel, { token: 'x' }, { topic: 'v1.2' }), { token: 'x', topic: 'v1.2' }, 'a word is no host');
});

void t.test('items of a list keep their credentials by their key, whatever their order', async (t) => {
  const one = { key: 'a', name: 'A', url: 'https://x.example/1', secret: 's1' };
  const two = { key: 'b', name: 'B', url: 'https://x.example/2', secret: 's2' };
  const stored = { destinations: [one, two] };
  const merged = mergeSettings(channel, stored, {
    destinations: [
      { key: 'b', name: 'B2' },
      { key: 'a', name: 'A' },
    ],
  });
  t.same(merged, { destinations: [{ ...two, name: 'B2' }, one] });
  t.same(mergeSettings(channel, stored, { destinations: [{ key: 'c', name: 'C' }] }), {
    destinations: [{ key: 'c', name: 'C' }],
  });
  const moved = mergeSettings(channel, stored, { destinations: [{ key: 'a', name: 'A', url: 'https://y.example/1' }] });
  t.same(moved, { destinations: [{ key: 'a', name: 'A', url: 'https://y.example/1' }] });
});

void t.test('what is shown and sent back changes nothing, and shows no credential', async (t) => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const destination = fc.record({
    key: word,
    name: word,
    url: word.map((path) => `https://x.example/${path}-credential`),
    secret: word.map((s) => `${s}-credential`),
  });
  const settings = fc.record({
    server: word.map((name) => `https://${name}.example`),
    token: word.map((s) => `${s}-credential`),
    destinations: fc.uniqueArray(destination, { maxLength: 4, selector: ({ key }) => key }),
  });
  fc.assert(
    fc.property(settings, (stored) => {
      const shown = shownSettings(channel, stored);
      t.notOk(JSON.stringify(shown).includes('credential'));
      t.same(mergeSettings(channel, stored, shown), stored);
    }),
  );
});
