import type { Engine } from '../engine/engine.ts';
import type { Network } from './network.ts';

/** What a machine sees of its own way out. */
export type UplinkView = {
  readonly gatewayAnswers: () => Promise<boolean>;
  readonly canariesAnswer: () => Promise<boolean>;
};

/** Where the ways of a machine lead: its default gateway, and everything behind it. */
export const gateway = 'gateway';
export const internet = 'internet';

const answerWithinUs = 1_000_000;

export function createUplinkView(engine: Engine, network: Network): UplinkView {
  async function answers(place: string): Promise<boolean> {
    const machine = engine.current?.machine.name ?? '';
    const stands = !network.isCut([machine, place]);
    await engine.pause(stands ? network.latencyUs() : answerWithinUs);
    return stands && !network.isCut([machine, place]);
  }
  return { gatewayAnswers: () => answers(gateway), canariesAnswer: () => answers(internet) };
}
