import t from 'tap';
import type { IncomingResponse } from '../../channel.ts';
import { fieldOf, referenceOf } from './fields.ts';
import { meaningForDestination, notFoundByProxy, rateLimited, refusal, secondsToMs, unknownTarget } from './refusal.ts';
import { uuidOf } from './uuid-of.ts';

function answered(status: number, json?: unknown, headers: Record<string, string> = {}): IncomingResponse {
  return { status, headers, json, text: JSON.stringify(json) ?? '' };
}

void t.test('what a service says comes before what its status says', async (t) => {
  const reading = { title: 'Some', secrets: [], now: 0 };
  t.match(refusal(answered(400), reading), { code: 'refused_message', fault: 'message' });
  t.match(refusal(answered(400), { ...reading, meaning: unknownTarget }), { code: 'unknown_target', fault: 'target' });
  t.match(refusal(answered(429, {}, { 'retry-after': '7' }), reading), { code: 'rate_limited', retryAfterMs: 7000 });
  t.match(
    refusal(answered(400, {}, { 'retry-after': '7' }), { ...reading, meaning: { ...rateLimited, retryAfterMs: 90 } }),
    {
      fault: 'passing',
      retryAfterMs: 90,
    },
  );
  t.match(meaningForDestination(403), { code: 'refused_credentials', fault: 'target' });
  t.match(meaningForDestination(402), { code: 'refused_credentials', fault: 'target' });
});

void t.test('what a proxy does not find passes, what the service does not find stays', async (t) => {
  t.match(notFoundByProxy(answered(404, '404 page not found'), false), { code: 'unexpected_status', fault: 'passing' });
  t.equal(notFoundByProxy(answered(404, { errcode: 'M_NOT_FOUND' }), true), undefined);
  t.equal(notFoundByProxy(answered(401), false), undefined);
});

void t.test('secrets that a service repeats are not repeated', async (t) => {
  const { message } = refusal(answered(401), {
    title: 'Some',
    detail: 'bad key abcd-efgh\r\nX: y',
    secrets: ['abcd-efgh'],
    now: 0,
  });
  t.notMatch(message, /abcd-efgh|\n/);
  t.match(message, 'bad key');
});

void t.test('answers of strangers have any form', async (t) => {
  for (const json of [undefined, null, 3, 'text', [], { error: null }, { error: 'x' }])
    t.equal(fieldOf(answered(200, json), 'error', 'code'), undefined);
  t.equal(fieldOf(answered(200, { a: [{ b: 1 }] }), 'a', 0, 'b'), 1);
  t.equal(fieldOf(answered(200, {}), 'constructor'), undefined);
  t.same(referenceOf('x y'), {});
  t.same(referenceOf(12), { reference: '12' });
  t.equal(secondsToMs('3'), undefined);
  t.equal(secondsToMs(0.25), 250);
  t.equal(secondsToMs(1e9), 86_400_000);
});

void t.test('a UUID of the same texts is the same', async (t) => {
  t.equal(uuidOf('a', 'b'), uuidOf('a', 'b'));
  t.not(uuidOf('a', 'b'), uuidOf('ab'));
  t.match(uuidOf('a'), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
