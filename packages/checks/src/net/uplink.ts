import ipaddr from 'ipaddr.js';
import type { CheckOutcome } from '../outcome.ts';
import { gatewayAnswers } from './gateway.ts';
import { knock } from './knock.ts';

/** What can be asked about the way out of this machine; undefined when it cannot be told. */
export type UplinkParts = {
  readonly gatewayAnswers: () => Promise<boolean | undefined>;
  /** Whether any canary answers; undefined when none is configured. */
  readonly canariesAnswer: () => Promise<boolean | undefined>;
};

export type UplinkOptions = UplinkParts & {
  /**
   * Whether a session with a machine elsewhere is alive now: while one is, the uplink stands. It may ask the other side and take about a
   * second for it. A session over loopback proves nothing and must not count.
   */
  readonly sessionStands: () => boolean | Promise<boolean>;
  /** Whether the looks that are made every two seconds can be spared, because the session was heard a moment ago. */
  readonly isWell?: () => boolean;
  readonly onChange: (lost: boolean) => void;
  /** Milliseconds that only go forward; the process's own when absent. */
  readonly clock?: () => number;
};

const askEveryMs = 2_000;
const answerWithinMs = 1_000;
/** So long the session alone is asked: mostly it answers, and the gateway is left in peace. */
const sessionAloneMs = 250;
/** Looks for failing checks begin so far apart; what ends in between is served by one. */
const looksApartMs = 100;

/** The parts of this machine: its default gateway, and canaries ("host:port") that the operator has named. */
export function systemUplinkParts(canaries: readonly string[]): UplinkParts {
  return {
    gatewayAnswers: () => gatewayAnswers(answerWithinMs),
    canariesAnswer: async () => {
      if (canaries.length === 0) return undefined;
      const knocks = canaries.map((canary) => {
        const colon = canary.lastIndexOf(':');
        const host = canary.slice(0, colon).replace(/^\[|\]$/g, '');
        return knock(host, Number(canary.slice(colon + 1)), answerWithinMs);
      });
      return (await Promise.all(knocks)).includes('answered');
    },
  };
}

/**
 * A vantage point checks itself (rule 12 of the consensus): its uplink is lost when its session, its default gateway and all configured
 * canaries fail together. While it is, failures of targets elsewhere are its own. Where neither the gateway's state can be told nor a
 * canary is configured, the uplink is never taken for lost.
 */
export class Uplink {
  readonly #options: UplinkOptions;
  readonly #clock: () => number;
  #lost = false;
  /** When it was last found to be back. */
  #backMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** Checks that have ended and whose failure waits for a look that begins later. */
  #waiting: (() => void)[] = [];
  /** Those that the look under way will answer. */
  #served: (() => void)[] = [];
  #isServing = false;
  #endPause: (() => void) | undefined;
  #stopped = false;

  constructor(options: UplinkOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  get lost(): boolean {
    return this.#lost;
  }

  start(): void {
    this.#timer = setInterval(() => {
      if (this.#lost || this.#options.isWell?.() !== true) void this.look();
    }, askEveryMs);
  }

  /** Looks no more; what waits for a look is let go. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#endPause?.();
    for (const release of [...this.#waiting, ...this.#served]) release();
    this.#waiting = [];
    this.#served = [];
  }

  /**
   * Looks once; gateway and canaries are only asked when the session does not answer at once. Joins a look that is under way. Takes as long
   * as the slower of the two, some 1.3 s at most by the parts of the system.
   */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A look that begins now: one that is under way may have begun before what is to be judged had ended. */
  async lookAfresh(): Promise<void> {
    if (this.#looking !== undefined) await this.#looking;
    await this.look();
  }

  /**
   * The outcome of a check that has just ended, as it counts: a failure that a lost uplink would explain waits for a look that began after
   * it. All that wait are served by one look. Everything else is given back at once, and so is a failure of a check in whose time the
   * uplink was known to be lost: that it is back by now says nothing about then.
   */
  async examineAfresh(outcome: CheckOutcome): Promise<CheckOutcome> {
    if (!dependsOnUplink(outcome)) return outcome;
    const beganMs = this.#clock() - outcome.total / 1_000;
    if (!this.#lost && !this.#stopped && beganMs >= this.#backMs) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        if (!this.#isServing) void this.#serve();
      });
    }
    return this.#lost || beganMs < this.#backMs ? asOwn(outcome) : outcome;
  }

  /** The outcome as it counts: a failure beyond a lost uplink says nothing about its target. */
  examine(outcome: CheckOutcome): CheckOutcome {
    return this.#lost && dependsOnUplink(outcome) ? asOwn(outcome) : outcome;
  }

  /** Looks for what waits, until nothing does. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    // What fails together ends together: all of this moment go into the first look.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      if (this.#looking !== undefined) await this.#looking;
      this.#served = this.#waiting;
      this.#waiting = [];
      await this.look();
      for (const release of this.#served) release();
      this.#served = [];
      await this.#pause();
    }
    this.#isServing = false;
  }

  async #pause(): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, looksApartMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #look(): Promise<void> {
    // Who cannot ask cannot tell.
    this.#set(await this.#isCutOff().catch(() => false));
  }

  async #isCutOff(): Promise<boolean> {
    const session = Promise.resolve(this.#options.sessionStands()).catch(() => false);
    if ((await within(sessionAloneMs, session)) === true) return false;
    const answers = Promise.all([this.#options.gatewayAnswers(), this.#options.canariesAnswer()]);
    const isSilent = answers.then((found) => !found.includes(true) && found.includes(false));
    // Whoever answers first has shown that the way is there; only silence has to be waited for on both sides.
    return Promise.race([
      session.then((stands) => !stands && isSilent),
      isSilent.then((silent) => silent && session.then((stands) => !stands)),
    ]);
  }

  #set(lost: boolean): void {
    if (lost === this.#lost) return;
    this.#lost = lost;
    if (!lost) this.#backMs = this.#clock();
    this.#options.onChange(lost);
  }
}

function asOwn({ total, phases }: CheckOutcome): CheckOutcome {
  return {
    outcome: 'probe_error',
    total,
    phases,
    source: 'probe',
    code: 'probe_uplink',
    message: 'The probe had lost its own connection: its session, its gateway and its canaries did not answer.',
  };
}

/** What a promise gives, or undefined when it takes longer. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}

/**
 * Whether an outcome is a failure that a lost uplink would explain, or the silence of a target that must not answer: loopback and
 * private addresses are reached without it.
 */
export function dependsOnUplink(outcome: CheckOutcome): boolean {
  const isFailure = outcome.outcome === 'fail' || outcome.outcome === 'timeout';
  const isSilence = outcome.outcome === 'ok' && outcome.evidence?.details?.['no_answer'] !== undefined;
  return (isFailure || isSilence) && !isLocal(outcome.evidence?.address);
}

function isLocal(address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() !== 'unicast';
}
