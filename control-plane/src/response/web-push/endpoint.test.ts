import { createAddressPolicy } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { readEndpoint } from './endpoint.ts';

const guarded = createAddressPolicy({ allowedPrivate: [] });
const open = createAddressPolicy({ allowedPrivate: ['127.0.0.0/8', '::1/128', '10.0.0.0/8'] });

void t.test('endpoints as push services give them', async (t) => {
  for (const url of [
    'https://fcm.googleapis.com/fcm/send/dQw4w9WgXcQ:APA91bH-_x',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAAAABl_-x',
    'https://web.push.apple.com/QOXu-_x',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYAAA%2bx%3d%3d',
    'https://push.example.com:8443/x?y=z',
  ]) {
    t.match(readEndpoint(url, guarded), { ok: true, url, service: new URL(url).host }, url);
  }
});

void t.test('what is no public https URL is refused', async (t) => {
  for (const [url, message] of [
    ['http://push.example.com/x', /https/],
    ['http://127.0.0.1:9/x', /may not be reached/],
    ['https://127.0.0.1/x', /may not be reached/],
    ['https://2130706433/x', /may not be reached/],
    ['https://0x7f.1/x', /may not be reached/],
    ['https://[::1]/x', /may not be reached/],
    ['https://[::ffff:10.0.0.1]/x', /may not be reached/],
    ['https://169.254.169.254/latest', /may not be reached/],
    ['https://user@push.example.com/x', /user information/],
    ['https://user:secret@push.example.com/x', /user information/],
    ['https://push.example.com/x#y', /fragment/],
    ['https://push.example.com/x#', /fragment/],
    [String.raw`https:\\push.example.com\x`, /ASCII/],
    [' https://push.example.com/x', /ASCII/],
    ['https://push.example.com/\n/x', /ASCII/],
    ['https://пуш.example/x', /ASCII/],
    ['file:///etc/passwd', /https/],
    ['javascript:alert(1)', /https/],
    ['ws://push.example.com', /https/],
    ['push.example.com', /a URL/],
    ['https://', /a URL/],
    ['', /ASCII/],
    ['https://android.googleapis.com/gcm/send/x', /ended/],
  ] as const) {
    t.match(readEndpoint(url, guarded), { ok: false, message }, url);
  }
});

void t.test('plain HTTP goes to loopback only, and only where the operator lets checks reach it', async (t) => {
  for (const url of ['http://127.0.0.1:9/x', 'http://[::1]:9/x'])
    t.match(readEndpoint(url, open), { ok: true, url }, url);
  for (const url of ['http://10.0.0.1/x', 'http://localhost/x', 'http://push.example.com/x']) {
    t.match(readEndpoint(url, open), { ok: false, message: /https/ }, url);
  }
  t.match(readEndpoint('https://10.0.0.1/x', open), { ok: true });
});

void t.test('one endpoint has one form, and no text brings it to throw', async () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({ withQueryParameters: true, withFragments: true }));
  fc.assert(
    fc.property(text, (given) => {
      const read = readEndpoint(given, guarded);
      if (!read.ok) return true;
      const again = readEndpoint(read.url, guarded);
      return again.ok && again.url === read.url && /^[!-~]+$/.test(read.url);
    }),
  );
});
