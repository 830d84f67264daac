/** The clocks of one machine: the monotonic one stops while it sleeps, the wall clock jumps when somebody sets it. */
export class Machine {
  readonly name: string;
  /** How fast its oscillator runs: 1.01 gains one percent. */
  #rate: number;
  #fromUs: number;
  #monotonicUs: number;
  #wallUs: number;
  #isAsleep = false;
  #sleptUs = 0;
  /** Changes with each boot. */
  bootId: string;
  #boots = 0;
  /** Whether the system says how long it slept. */
  readonly tellsSleep: boolean;

  constructor(options: {
    readonly name: string;
    readonly nowUs: number;
    readonly rate: number;
    /** How far its wall clock is from the truth. */
    readonly wallOffsetUs: number;
    readonly uptimeUs: number;
    readonly tellsSleep: boolean;
  }) {
    this.name = options.name;
    this.tellsSleep = options.tellsSleep;
    this.#rate = options.rate;
    this.#fromUs = options.nowUs;
    this.#monotonicUs = options.uptimeUs;
    this.#wallUs = options.nowUs + options.wallOffsetUs;
    this.bootId = `${options.name} boot 0`;
  }

  get rate(): number {
    return this.#rate;
  }

  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  /** Of the time `nowUs`, which never goes back. */
  monotonicUs(nowUs: number): number {
    return this.#isAsleep ? this.#monotonicUs : this.#monotonicUs + (nowUs - this.#fromUs) * this.#rate;
  }

  wallUs(nowUs: number): number {
    return this.#wallUs + (nowUs - this.#fromUs) * this.#rate;
  }

  sleptUs(nowUs: number): number {
    return this.#sleptUs + (this.#isAsleep ? (nowUs - this.#fromUs) * this.#rate : 0);
  }

  setRate(nowUs: number, rate: number): void {
    this.#settle(nowUs);
    this.#rate = rate;
  }

  setWall(nowUs: number, byUs: number): void {
    this.#settle(nowUs);
    this.#wallUs += byUs;
  }

  sleep(nowUs: number): void {
    this.#settle(nowUs);
    this.#isAsleep = true;
  }

  wake(nowUs: number): void {
    this.#settle(nowUs);
    this.#isAsleep = false;
  }

  /** Monotonic time begins anew. */
  boot(nowUs: number): void {
    this.#settle(nowUs);
    this.#isAsleep = false;
    this.#monotonicUs = 5_000_000;
    this.#sleptUs = 0;
    this.#boots += 1;
    this.bootId = `${this.name} boot ${this.#boots}`;
  }

  #settle(nowUs: number): void {
    const monotonicUs = this.monotonicUs(nowUs);
    const wallUs = this.wallUs(nowUs);
    const sleptUs = this.sleptUs(nowUs);
    this.#fromUs = nowUs;
    this.#monotonicUs = monotonicUs;
    this.#wallUs = wallUs;
    this.#sleptUs = sleptUs;
  }
}
