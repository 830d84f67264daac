import { createLocality, systemUplinkParts, Uplink } from '@parallax/checks';
import type { CheckOutcome } from '@parallax/checks';
import type { Logger } from './ports.ts';

export type OwnUplinkOptions = {
  /** "host:port" that must answer while the uplink stands. */
  readonly canaries: readonly string[];
  /** "host:port" of the control plane. */
  readonly sessionAddress: string;
  readonly session: {
    /** Whether the control plane answers a question that is asked now. */
    readonly answers: (withinMs: number) => Promise<boolean>;
    /** Since when it was not heard. */
    readonly silentMs: () => number;
  };
  readonly logger: Logger;
};

/** The way out of this probe (rule 12 of the consensus). */
export type OwnUplink = {
  /** The outcome of a check that has just ended, as it counts; see Uplink. */
  readonly examine: (outcome: CheckOutcome) => Promise<CheckOutcome>;
  readonly lost: () => boolean;
  /** A session with the control plane was made. */
  readonly sessionStands: () => void;
  readonly start: () => void;
  readonly stop: () => void;
};

/** The control plane is heard every 4 s: when that is missing it is asked whether it is there. */
const isWellMs = 5_000;
const answersWithinMs = 1_000;

/** Watches this machine's way out by the session, the gateway and the canaries. */
export function createOwnUplink({ canaries, sessionAddress, session, logger }: OwnUplinkOptions): OwnUplink {
  // A control plane on this machine is heard whatever has become of the uplink. Where it is was known when the session was made; a name
  // that is looked up while the uplink may be lost would only hold everything up.
  let isElsewhere = false;
  const isThisMachine = createLocality(() => performance.now());
  const uplink = new Uplink({
    ...systemUplinkParts(canaries),
    sessionStands: async () => isElsewhere && session.answers(answersWithinMs),
    isWell: () => isElsewhere && session.silentMs() < isWellMs,
    onChange: (lost) => {
      if (lost) logger.warn({}, 'the uplink of this probe is lost: failures of targets elsewhere are its own');
      else logger.info({}, 'the uplink of this probe is back');
    },
  });
  async function locate(): Promise<void> {
    isElsewhere = !(await isThisMachine(sessionAddress.replace(/:\d+$/, '')));
  }
  return {
    examine: (outcome) => uplink.examineAfresh(outcome),
    lost: () => uplink.lost,
    sessionStands: () => void locate(),
    start: () => uplink.start(),
    stop: () => uplink.stop(),
  };
}
