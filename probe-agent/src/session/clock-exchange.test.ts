import t from 'tap';
import { ServerClock } from '../runner/clock.ts';
import { ClockExchange } from './clock-exchange.ts';

function exchanging() {
  const world = { nowUs: 1_000_000, sent: [] as bigint[] };
  const clock = new ServerClock({
    monotonicUs: () => world.nowUs,
    wallMs: () => world.nowUs / 1_000,
    onAnchor: () => {},
  });
  const exchange = new ClockExchange({
    clock,
    monotonicUs: () => world.nowUs,
    send: (nonce) => void world.sent.push(nonce),
  });
  return { world, clock, exchange };
}

void t.test('the answer to a request sets the clock, the answer to another question does not', async (t) => {
  const { world, clock, exchange } = exchanging();
  const asked = exchange.isAnswered(5_000);
  exchange.request();
  world.nowUs += 1_000;
  exchange.answered(world.sent[0] ?? 0n, 77_000_000n);
  t.equal(await asked, true);
  t.notOk(clock.isKnown);
  exchange.answered(99n, 77_000_000n);
  t.notOk(clock.isKnown, 'nor does one to a question that nobody has asked');
  exchange.answered(world.sent[1] ?? 0n, 77_000_000n);
  t.ok(clock.isKnown);
});

void t.test('only the answer to the question itself is a sign of life, within its time and session', async (t) => {
  const { world, exchange } = exchanging();
  exchange.request();
  const late = exchange.isAnswered(10);
  exchange.answered(world.sent[0] ?? 0n, 1n);
  t.equal(await late, false);
  const cut = exchange.isAnswered(60_000);
  exchange.end();
  t.equal(await cut, false);
});
