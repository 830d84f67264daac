import t from 'tap';
import { follow, Stop, unfollow } from './stop.ts';

void t.test('a stop tells everybody who listens, once, and nobody who has left', async (t) => {
  const stop = new Stop();
  const heard: string[] = [];
  const first = () => heard.push('first');
  const second = () => heard.push('second');
  const left = () => heard.push('left');
  for (const listener of [first, left, second, second, first]) stop.addEventListener('abort', listener);
  stop.removeEventListener('abort', left);
  stop.abort();
  stop.abort();
  t.same(heard, ['first', 'second']);
  t.ok(stop.aborted);
  stop.addEventListener('abort', first);
  stop.abort();
  t.equal(heard.length, 2, 'who comes later has to look');
});

void t.test('the place of one that has left is taken by the next', async (t) => {
  const stop = new Stop();
  const heard: string[] = [];
  const gone = () => heard.push('gone');
  const kept = () => heard.push('kept');
  const next = () => heard.push('next');
  stop.addEventListener('abort', gone);
  stop.addEventListener('abort', kept);
  stop.removeEventListener('abort', gone);
  stop.addEventListener('abort', kept);
  stop.addEventListener('abort', next);
  stop.abort();
  t.same(new Set(heard), new Set(['kept', 'next']));
  t.equal(heard.length, 2);
});

void t.test('many checks follow one signal by one listener', async (t) => {
  const controller = new AbortController();
  let added = 0;
  const { signal } = controller;
  const counted = {
    get aborted() {
      return signal.aborted;
    },
    addEventListener: (type: 'abort', listener: () => void) => {
      added += 1;
      signal.addEventListener(type, listener);
    },
    removeEventListener: (type: 'abort', listener: () => void) => signal.removeEventListener(type, listener),
  };
  const heard = new Set<number>();
  const listeners = Array.from({ length: 1_000 }, (_, index) => () => {
    heard.add(index);
  });
  const followers = listeners.map((listener) => follow(counted, listener));
  for (const follower of followers.slice(0, 999)) unfollow(follower);
  for (const follower of followers.slice(1)) unfollow(follower);
  const again = listeners.slice(400).map((listener) => follow(counted, listener));
  for (const follower of again.slice(0, 100).reverse()) unfollow(follower);
  controller.abort();
  t.equal(added, 1);
  t.same([heard.size, heard.has(499), heard.has(500)], [500, false, true], 'those that have left hear nothing');
});
