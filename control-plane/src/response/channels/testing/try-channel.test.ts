import t from 'tap';
import { webhook } from '../kinds/webhook.ts';
import { startStandIn } from './stand-in.ts';
import { webhook as standIn } from './stand-ins/webhook.ts';
import { tryChannel } from './try-channel.ts';

void t.test('a kind is tried against its stand-in, and the trace shows each step without secrets', async (t) => {
  const running = await startStandIn(t, standIn);
  const settings = standIn.settings(running.baseUrl);
  const result = await tryChannel(webhook, { settings, target: standIn.target });
  t.same(running.problems, []);
  t.ok(result.ok);
  t.same(
    result.steps.map(({ name, ok }) => [name, ok]),
    [
      ['resolve', true],
      ['connect', true],
      ['request', true],
      ['response', true],
    ],
  );
  t.notMatch(JSON.stringify(result.steps), 'credential');
});

void t.test('what a service refuses is called by its name', async (t) => {
  const running = await startStandIn(t, standIn);
  running.meet('rate_limited');
  const result = await tryChannel(webhook, { settings: standIn.settings(running.baseUrl), target: standIn.target });
  t.match(result, { ok: false, error: { code: 'rate_limited', fault: 'passing', retryAfterMs: 7_000 } });
});

void t.test('loopback is denied where the operator did not allow it', async (t) => {
  const running = await startStandIn(t, standIn);
  const trial = { settings: standIn.settings(running.baseUrl), target: standIn.target, allowsLoopback: false };
  t.match(await tryChannel(webhook, trial), { ok: false, error: { code: 'address_denied' } });
  t.same(running.seen, []);
});
