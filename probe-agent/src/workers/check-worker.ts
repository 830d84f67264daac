import type { Worker } from 'node:worker_threads';
import type { CheckOutcome } from '@parallax/checks';
import { CheckAnswer, RunCheck } from '@parallax/wire';
import { BackOff } from '../back-off.ts';
import { messageOf } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { PlannedChange } from '../runner/plan.ts';
import { refusal } from '../runner/runner.ts';
import { packChange } from './messages.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';

/** Starts the thread of a worker under a name. */
export type ThreadStarter = (start: WorkerStart, name: string) => Worker;

export type CheckWorkerOptions = {
  readonly name: string;
  readonly startThread: ThreadStarter;
  /** What a thread that starts now begins with. */
  readonly begin: () => WorkerStart;
  /** All assignments of this worker, for a thread that starts after another has ended. */
  readonly share: () => PlannedChange;
  readonly report: (report: Extract<FromWorker, { type: 'report' }>) => void;
  readonly examine: (outcome: CheckOutcome) => Promise<CheckOutcome>;
  readonly random: () => number;
  readonly logger: Logger;
};

/** Who has lived so long is not taken for one that cannot live. */
const healthyAfterMs = 60_000;
/** Checks end at once when they are told to; what has not ended by then never will. */
const stopWithinMs = 5_000;

/** One worker as the main thread sees it: its thread, or the next one when that has ended by itself. */
export class CheckWorker {
  readonly #options: CheckWorkerOptions;
  readonly #backOff: BackOff;
  readonly #asked = new Map<number, { readonly requestId: string; readonly resolve: (answer: CheckAnswer) => void }>();
  #thread: Worker | undefined;
  #lastId = 0;
  #inFlight = 0;
  #restart: NodeJS.Timeout | undefined;
  #isStopping = false;
  #onEnd: (() => void) | undefined;

  constructor(options: CheckWorkerOptions) {
    this.#options = options;
    this.#backOff = new BackOff({ firstMs: 250, mostMs: 30_000, random: options.random });
  }

  /** Checks under way as last reported. */
  get inFlight(): number {
    return this.#inFlight;
  }

  start(): void {
    const startedMs = performance.now();
    const thread = this.#options.startThread(this.#options.begin(), this.#options.name);
    this.#thread = thread;
    let failure: unknown;
    thread.on('message', (message: FromWorker) => this.#take(message));
    thread.on('error', (error) => {
      failure = error;
    });
    thread.once('exit', (code) => {
      if (this.#thread !== thread) return;
      if (performance.now() - startedMs > healthyAfterMs) this.#backOff.reset();
      this.#ended(failure ?? new Error(`it ended with code ${code}`));
    });
  }

  /** To a thread that is not there nothing is sent: the next one begins with all of it. */
  send(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    this.#thread?.postMessage(message, [...transfer]);
  }

  assign(part: PlannedChange): void {
    if (this.#thread === undefined) return;
    const change = packChange(part);
    this.send({ type: 'assignments', change }, [change.set.buffer, change.firsts.buffer]);
  }

  async run(request: RunCheck, kind: 'manual' | 'recheck'): Promise<CheckAnswer> {
    if (this.#thread === undefined || this.#isStopping)
      return refusal(request.requestId, 'the worker that checks this target is not there; try again in a moment');
    this.#lastId += 1;
    const id = this.#lastId;
    const bytes = new Uint8Array(RunCheck.encode(request).finish());
    return new Promise((resolve) => {
      this.#asked.set(id, { requestId: request.requestId, resolve });
      this.send({ type: 'run', id, kind, request: bytes }, [bytes.buffer]);
    });
  }

  /** Ends its checks and its thread; by force when that takes too long. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const thread = this.#thread;
    if (thread === undefined) return;
    const end = new Promise<void>((resolve) => {
      this.#onEnd = resolve;
    });
    this.send({ type: 'stop' });
    const force = setTimeout(() => void thread.terminate(), stopWithinMs);
    await end;
    clearTimeout(force);
    await thread.terminate();
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'report':
        this.#inFlight = message.inFlight;
        this.#options.report(message);
        return;
      case 'judge':
        void this.#judge(message.id, message.outcome);
        return;
      case 'answer':
        this.#asked.get(message.id)?.resolve(CheckAnswer.decode(message.answer));
        this.#asked.delete(message.id);
        return;
      case 'log':
        this.#options.logger[message.level](message.fields, message.message);
        return;
      case 'stopped':
        this.#onEnd?.();
    }
  }

  async #judge(id: number, outcome: CheckOutcome): Promise<void> {
    const thread = this.#thread;
    let judged = outcome;
    try {
      judged = await this.#options.examine(outcome);
    } catch (error) {
      this.#options.logger.error({ error: messageOf(error) }, 'a failure could not be examined: it counts as it is');
    }
    // The numbers of another thread are others.
    if (this.#thread === thread) this.send({ type: 'judged', id, outcome: judged === outcome ? undefined : judged });
  }

  #ended(reason: unknown): void {
    this.#thread = undefined;
    this.#inFlight = 0;
    for (const { requestId, resolve } of this.#asked.values())
      resolve(refusal(requestId, 'the worker that ran the check has ended'));
    this.#asked.clear();
    this.#onEnd?.();
    if (this.#isStopping) return;
    const { name, logger } = this.#options;
    const waitMs = Math.round(this.#backOff.next());
    logger.error(
      { worker: name, error: messageOf(reason), again_in_ms: waitMs },
      'a worker has ended by itself: what it was checking is lost, and it is started again',
    );
    this.#restart = setTimeout(() => {
      this.start();
      this.assign(this.#options.share());
    }, waitMs);
  }
}
