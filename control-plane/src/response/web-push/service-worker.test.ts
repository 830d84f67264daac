import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import t from 'tap';
import { mostPayloadBytes, notificationOf } from '../channels/kinds/web-push/notification.ts';
import { sampleMessage } from '../channels/testing/messages.ts';

/* The samples of docs/web-push.md are what people copy: they understand what is sent. */

const page = readFileSync(new URL('../../../../docs/web-push.md', import.meta.url), 'utf8');
const [subscribing = '', worker = ''] = [...page.matchAll(/```js\n(?<code>[\s\S]*?)```/g)].map(
  (one) => one.groups?.['code'] ?? '',
);

type Shown = {
  readonly title: string;
  readonly tag?: string;
  readonly data: { readonly url: string | null; readonly urls: object };
};
type Handler = (event: object) => void;

/** Runs the worker with what a browser gives it. */
function browser() {
  const handlers = new Map<string, Handler>();
  const shown: Shown[] = [];
  const opened: string[] = [];
  vm.runInNewContext(worker, {
    self: {
      addEventListener: (name: string, handler: Handler) => handlers.set(name, handler),
      registration: {
        showNotification: (title: string, options: Omit<Shown, 'title'>) => shown.push({ title, ...options }),
      },
      clients: { openWindow: (url: string) => opened.push(url) },
    },
  });
  const waitUntil = () => undefined;
  return {
    shown,
    opened,
    push: (payload: string) =>
      handlers.get('push')?.({ data: { json: () => JSON.parse(payload) as unknown }, waitUntil }),
    press: (action: string) =>
      handlers.get('notificationclick')?.({
        action,
        notification: { close: () => undefined, data: shown.at(-1)?.data },
        waitUntil,
      }),
  };
}

void t.test('the worker shows what is sent, and opens what is pressed', async (t) => {
  const { shown, opened, push, press } = browser();
  push(notificationOf(sampleMessage(), mostPayloadBytes));
  t.match(JSON.parse(JSON.stringify(shown)), [
    {
      title: 'Shop is down',
      body: /^Three of three probes/,
      tag: 'incident:17',
      renotify: true,
      requireInteraction: true,
      lang: 'en',
      timestamp: Date.parse('2026-03-01T02:00:05.000Z'),
      actions: [
        { action: 'acknowledge', title: 'Acknowledge' },
        { action: 'snooze', title: 'Snooze' },
      ],
    },
  ]);
  press('');
  press('snooze');
  t.same(opened, ['https://monitor.example.com/incidents/17', 'https://monitor.example.com/alerts/snooze/abc?for=1h']);
  push(notificationOf(sampleMessage({ links: [] }), mostPayloadBytes));
  press('');
  t.equal(opened.length, 2, 'a message without a link opens nothing');
});

void t.test('the sample of the page is a script', async (t) => {
  t.doesNotThrow(() => new vm.Script(subscribing));
  t.match(subscribing, '/push-worker.js');
});
