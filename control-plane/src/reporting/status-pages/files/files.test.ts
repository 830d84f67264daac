import { readdirSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { request } from 'undici';
import { keptPages } from '../index.ts';
import { domainsApi } from '../domains/testing.ts';
import { pictureHeader } from './picture-size.ts';

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A PNG of one colour. */
function png(width: number, height: number, grey = 0, padding = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, grey)]);
  const lines = deflateSync(Buffer.concat(Array.from({ length: Math.min(height, 4_000) }, () => line)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('tEXt', Buffer.alloc(padding, 65)),
    chunk('IDAT', lines),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** One pixel, as cwebp writes it without loss. */
const webp = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path class="x" d="M0 0h40v20z"/></svg>';

t.test('a picture is what its header says', async (t) => {
  t.same(pictureHeader(png(3, 7)), { type: 'png', width: 3, height: 7 });
  t.same(pictureHeader(webp), { type: 'webp', width: 1, height: 1 });
  const of = (kind: string, data: string): Buffer =>
    Buffer.concat([
      Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'),
      Buffer.from(`${kind}\0\0\0\0`, 'latin1'),
      Buffer.from(data, 'hex'),
      Buffer.alloc(12),
    ]);
  t.same(pictureHeader(of('VP8X', '00000000ff0700ff0300')), { type: 'webp', width: 2_048, height: 1_024 });
  t.same(pictureHeader(of('VP8 ', '0000009d012a40012000')), { type: 'webp', width: 320, height: 32 });
  t.equal(pictureHeader(of('VP8 ', '000000000000')), undefined);
  t.equal(pictureHeader(of('ALPH', '0000')), undefined);
  for (const text of ['', 'GIF89a', '\x89PNG\r\n\x1a\n', 'RIFF'])
    t.equal(pictureHeader(Buffer.from(text, 'latin1')), undefined);
});

t.test('a page has logos and a favicon', async (t) => {
  const api = await domainsApi(t);
  const { dataDir = '' } = api.context;
  const { id } = await api.page({ is_published: true, slug: 'shop', name: 'Shop & Co' });
  const put = async (
    kind: string,
    bytes: Buffer | string,
    type = 'image/png',
    headers: Record<string, string> = {},
    page = id,
  ) => {
    const answer = await request(`${api.url}/api/v1/status-pages/${page}/files/${kind}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': type, ...headers },
      body: bytes,
    });
    return {
      status: answer.statusCode,
      body: (await answer.body.json()) as Record<string, unknown> & { files: Record<string, string | null> },
    };
  };
  const get = (at: string, headers: Record<string, string> = {}) => api.call('GET', at, { headers });
  /** Waits until the page is as it should be. */
  const until = async (isThere: (html: string) => boolean, path = '/status/shop'): Promise<string> => {
    const endMs = Date.now() + 10_000;
    for (;;) {
      await api.settle();
      const { status, text } = await get(path);
      if (isThere(`${status} ${text}`)) return text;
      if (Date.now() > endMs) throw new Error(`${path} stays ${text.slice(0, 3_000)}`);
      await delay(20);
    }
  };
  const shows = (part: string) => until((html) => html.includes(part));

  await t.test('they are shown in the head of the page, by scheme, and served for ever', async (t) => {
    t.notMatch((await get('/status/shop')).text, /<img|\/files\//);
    const light = await put('logo-light', png(200, 50));
    t.match(light, { status: 200, body: { version: 2 } });
    const lightUrl = light.body.files['logo-light'] ?? '';
    t.match(lightUrl, /^https:\/\/parallax\.example\/status\/shop\/files\/[0-9a-f]{32}\.png$/);
    const lightPath = new URL(lightUrl).pathname;
    t.ok(await shows(`<h1><img class=lo src="${lightPath}" alt="Shop &amp; Co" width="200" height="50"></h1>`));
    const dark = await put('logo-dark', png(210, 50, 255), 'image/webp');
    const darkPath = new URL(dark.body.files['logo-dark'] ?? '').pathname;
    t.match(darkPath, /\.png$/, 'whatever type the request names');
    const icon = await put('favicon', svg, 'image/svg+xml');
    const iconPath = new URL(icon.body.files['favicon'] ?? '').pathname;
    const html = await shows(iconPath);
    t.match(
      html,
      `<picture><source media="(prefers-color-scheme:dark)" srcset="${darkPath}" width="210" height="50"><img class=lo src="${lightPath}"`,
    );
    t.match(html, `<link rel=icon type="image/svg+xml" href="${iconPath}">`);
    await api.pages('PUT', `/${id}`, { theme: { scheme: 'dark' } });
    t.ok(await shows(`<h1><img class=lo src="${darkPath}"`));
    t.match(await put('logo-light', png(200, 50)), { status: 200, body: { version: 5 } }, 'the same is no version');
    t.match(await put('logo-light', webp, 'image/webp', { 'if-match': '"1"' }), { status: 412 });

    const answer = await request(`${api.url}${lightPath}`, {
      headers: { host: 'parallax.example', 'accept-encoding': 'br, gzip' },
    });
    t.same(Buffer.from(await answer.body.arrayBuffer()), png(200, 50));
    t.match(answer.headers, {
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /^default-src 'none'; style-src 'none'; .*sandbox$/,
    });
    t.equal(answer.headers['content-encoding'], undefined, 'it is packed already');
    const drawn = await get(iconPath, { 'accept-encoding': 'identity' });
    t.match(drawn, {
      status: 200,
      text: /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 40 20"><path d=/,
    });
    t.equal(drawn.headers.get('content-type'), 'image/svg+xml; charset=utf-8');
    for (const wrong of [
      iconPath.replace('.svg', '.png'),
      iconPath.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
      lightPath.replace('shop', 'none'),
      `${lightPath}x`,
    ]) {
      t.equal((await get(wrong)).status, 404, wrong);
    }
  });

  await t.test('they are taken away, and are gone with their page', async (t) => {
    const { files } = await api.read(id);
    const lightPath = new URL(files['logo-light'] ?? '').pathname;
    const remove = (kind: string) => api.pages('DELETE', `/${id}/files/${kind}`);
    t.equal((await remove('logo-light')).status, 204);
    t.match(await remove('logo-light'), { status: 404, body: { detail: `status page ${id} has no logo-light` } });
    t.match(await api.read(id), { files: { 'logo-light': null } });
    t.ok(await until((answer) => answer.startsWith('404'), lightPath));
    const darkPath = new URL(files['logo-dark'] ?? '').pathname;
    t.equal((await get(darkPath)).status, 200);
    await api.pages('PUT', `/${id}`, { is_published: false });
    t.ok(
      await until((answer) => answer.startsWith('404'), darkPath),
      'nothing of a page that is not published is public',
    );
    t.match(await put('other', png(1, 1)), { status: 422 });
  });

  await t.test('what is no picture, or too large, is refused', async (t) => {
    const code = (code: string) => ({ status: 422, body: { errors: [{ code }] } });
    t.match(await put('favicon', png(2_049, 1)), code('picture_size'));
    t.match(await put('favicon', png(1, 2_049)), code('picture_size'));
    t.match(await put('favicon', png(0, 1)), code('picture_size'));
    t.match(await put('favicon', png(2_048, 1)), { status: 200 });
    t.match(await put('favicon', png(1, 1, 0, 500_000)), { status: 413 });
    t.match(await put('favicon', png(1, 1, 0, 600_000)), { status: 413 });
    t.match(await put('favicon', `${svg}${' '.repeat(100_000)}`, 'image/svg+xml'), { status: 413 });
    t.match(await put('favicon', 'GIF89a'), code('format'));
    t.match(await put('favicon', Buffer.from([0xff, 0xd8, 0xff])), code('format'));
    t.match(await put('favicon', svg.replace('<path', '<script/><path'), 'image/png'), {
      status: 422,
      body: { errors: [{ code: 'svg', message: 'line 1: the element <script> is not taken' }] },
    });
    t.match(await put('favicon', ''), code('file_required'));
    t.match(await put('favicon', png(1, 1), 'image/gif'), { status: 415 });
    const form = `--x\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n${svg}\r\n--x--\r\n`;
    t.match(await put('favicon', form, 'multipart/form-data; boundary=x'), {
      status: 200,
      body: { files: { favicon: /\.svg$/ } },
    });
  });

  await t.test('a process that starts without a database has them too', async (t) => {
    const other = await api.page({ is_published: true, slug: 'kept', name: 'Kept' });
    const { body } = await put('logo-light', png(20, 5), 'image/png', {}, other.id);
    const seen = new URL(body.files['logo-light'] ?? '').pathname;
    t.equal((await get('/status/kept')).status, 200);
    t.equal((await get(seen)).status, 200);
    await api.stop();
    t.same(readdirSync(path.join(dataDir, 'status-pages', 'kept.files')), [path.basename(seen, '.png')]);
    const kept = await keptPages(dataDir, quietLog);
    const ask = async (at: string) => kept?.fetch({ path: at, query: '', acceptLanguage: undefined });
    t.match((await ask('/status/kept'))?.body('identity').toString(), seen);
    t.same((await ask(seen))?.body('identity'), png(20, 5));
    t.equal((await ask(seen.replace(/[0-9a-f]{32}/, '0'.repeat(32))))?.status, 404);
  });
});
