import type { Moment } from '../../../probe-agent/src/assignments/confirmation-age.ts';
import { current } from '../engine/current.ts';

/* The clocks of the machine that an agent runs on. */

export function sleptMs(): number | undefined {
  const { engine } = current();
  const machine = engine.current?.machine;
  return machine?.tellsSleep === true ? machine.sleptUs(engine.nowUs) / 1_000 : undefined;
}

export function momentNow(bootId: string, serverMs: number): Moment {
  const { engine } = current();
  const machine = engine.current?.machine;
  if (machine === undefined) throw new Error('nobody asks for the time');
  const monotonicMs = machine.monotonicUs(engine.nowUs) / 1_000;
  const uptimeMs = monotonicMs + machine.sleptUs(engine.nowUs) / 1_000;
  return { bootId, uptimeMs, monotonicMs, wallMs: machine.wallUs(engine.nowUs) / 1_000, serverMs };
}
