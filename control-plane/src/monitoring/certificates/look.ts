import { Problem } from '@parallax/api-contract';
import { readSentChain } from '@parallax/checks';
import type { SentChain } from '@parallax/checks';
import type { ChainAnswer } from '../probes/index.ts';
import type { CentralLook, ChainTarget } from './gateway.ts';

/** Asks one probe; replaced in tests. */
export type AskChain = (probeId: number) => Promise<ChainAnswer>;

/** Who may be asked. */
export type Lookers = {
  /** The probes that are assigned. */
  readonly seats: readonly { readonly probeId: number; readonly supplement: boolean }[];
  /** The monitor names its probes: they may see what nobody else can reach. */
  readonly areNamed: boolean;
};

/** Probes that are asked one after the other. */
const mostAsked = 2;
/** One that is silent for so long has used up the time of a second, in milliseconds. */
const patienceMs = 5_000;

/**
 * Has the chain looked at by an assigned probe. Where there is none, and where those that were asked cannot or do not answer, the control
 * plane looks itself, unless the probes were named.
 * @param clock monotonic milliseconds
 * @throws Problem `probe_unreachable` or `busy`
 */
export async function look(
  { seats, areNamed }: Lookers,
  target: ChainTarget,
  ask: AskChain,
  central: CentralLook,
  clock: () => number,
): Promise<{ readonly sent: SentChain; readonly probeId: number | null }> {
  const start = clock();
  const inTurn = [...seats].sort((one, other) => Number(one.supplement) - Number(other.supplement));
  let why = '';
  for (const { probeId } of inTurn.slice(0, mostAsked)) {
    if (clock() - start > patienceMs) break;
    const answer = await ask(probeId);
    const sent = 'chain' in answer ? readSentChain(answer.chain) : undefined;
    if (sent !== undefined) return { sent, probeId };
    why = 'refused' in answer ? answer.refused : 'the probe gave a chain that cannot be read';
  }
  if (inTurn.length > 0 && areNamed)
    throw new Problem(
      'probe_unreachable',
      `none of the probes that the monitor names could look: ${why}; try again later`,
    );
  const sent = await central(target);
  if (sent === undefined)
    throw new Problem(
      'busy',
      'the control plane looks at too many certificates at the same time; try again in a minute',
      {
        retryAfterSeconds: 10,
      },
    );
  return { sent, probeId: null };
}
