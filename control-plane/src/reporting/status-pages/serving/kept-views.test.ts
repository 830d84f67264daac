import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { KeptViews } from './kept-views.gateway.ts';
import { emptyView } from './testing.ts';

const keptOf = (slug: string, readMs: number, accessVersion = 1) => ({
  found: { pageId: 1, workspaceId: 1, slug, accessVersion, access: null },
  view: emptyView(slug),
  readMs,
});

t.test('a page is written once a minute, read by another process, and forgotten', async (t) => {
  const folder = t.testdir();
  const views = new KeptViews(folder, quietLog);
  views.keep(keptOf('shop', 1_000_000));
  views.keep(keptOf('shop', 1_059_999));
  await views.settle();
  const other = new KeptViews(folder, quietLog);
  t.strictSame(await other.read('shop'), keptOf('shop', 1_000_000));
  views.keep(keptOf('shop', 1_060_000));
  await views.settle();
  t.equal((await other.read('shop'))?.readMs, 1_060_000);
  t.strictSame(readdirSync(path.join(folder, 'status-pages')), ['shop.json'], 'nothing half is left');
  t.equal(statSync(path.join(folder, 'status-pages', 'shop.json')).mode & 0o777, 0o600);
  other.forget('shop');
  await other.settle();
  t.equal(await views.read('shop'), undefined);
});

t.test('what is damaged, of another form or another page is left out, and names lead nowhere else', async (t) => {
  const folder = t.testdir({ 'status-pages': {}, 'secret.json': '{}' });
  const views = new KeptViews(folder, quietLog);
  const write = (slug: string, text: string) => writeFileSync(path.join(folder, 'status-pages', `${slug}.json`), text);
  write('damaged', '{"form":2,');
  write('older', JSON.stringify({ form: 1, ...keptOf('older', 1) }));
  write('other', JSON.stringify({ form: 2, ...keptOf('shop', 1) }));
  for (const slug of ['damaged', 'older', 'other', 'none', '../secret', '', 'A']) {
    t.equal(await views.read(slug), undefined, slug);
  }
  views.forget('../secret');
  await views.settle();
  t.ok(statSync(path.join(folder, 'secret.json')));
});

t.test('a page that others may read now, or nobody, is not kept as it was', async (t) => {
  const folder = t.testdir();
  const views = new KeptViews(folder, quietLog);
  const names = () => readdirSync(path.join(folder, 'status-pages')).toSorted();
  const versions = new Map(['shop', 'changed', 'another'].map((slug) => [slug, { pageId: 1, accessVersion: 1 }]));
  for (const slug of ['shop', 'changed', 'another', 'withdrawn']) views.keep(keptOf(slug, 1_000_000));
  versions.set('changed', { pageId: 1, accessVersion: 2 });
  versions.set('another', { pageId: 2, accessVersion: 1 });
  // Another process, which has written none of them.
  await views.settle();
  await new KeptViews(folder, quietLog).sweep(async (slugs) => {
    t.same(slugs.toSorted(), ['another', 'changed', 'shop', 'withdrawn']);
    return versions;
  });
  t.same(names(), ['shop.json']);
  versions.set('shop', { pageId: 1, accessVersion: 3 });
  await Promise.all([views.sweep(async () => versions), views.sweep(async () => versions)]);
  t.same(names(), []);
  views.keep(keptOf('shop', 1_000_001));
  views.keep(keptOf('shop', 1_000_002, 3));
  await views.sweep(async () => versions);
  t.equal((await views.read('shop'))?.readMs, 1_000_002, 'a change is written at once');
  await t.rejects(views.sweep(async () => Promise.reject(new Error('away'))));
  t.same(names(), ['shop.json'], 'what cannot be compared stays');
  await views.sweep(async () => new Map());
  t.same(names(), [], 'and is compared the next time');
});
