import type { SkipReason } from '../runner/skipped.ts';
import type { FromWorker } from './messages.ts';
import { ResultPacker } from './packed-results.ts';
import type { HandedResult } from './packed-results.ts';

export type ReporterOptions = {
  readonly send: (message: FromWorker, transfer: readonly ArrayBuffer[]) => void;
  readonly inFlight: () => number;
};

/** A message costs as much as some dozen results in it; the log waits as long for company before it writes. */
const afterMs = 20;
const afterResults = 128;
/** What nobody waits for is told so often. */
const everyMs = 200;

/** Gathers what a worker has to tell, so that one message carries many results. What is urgent waits for the end of its turn only. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #packer = new ResultPacker();
  #lateMs: number[] = [];
  #skipped: Record<SkipReason, number> = { overrun: 0, overload: 0 };
  #toldInFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #interval: NodeJS.Timeout | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#interval = setInterval(() => this.report(), everyMs);
  }

  /** Reports what is left and then nothing more by itself. */
  stop(): void {
    clearInterval(this.#interval);
    this.report();
  }

  add(handed: HandedResult): void {
    this.#packer.add(handed);
    if (handed.urgent || this.#packer.count >= afterResults) this.#immediate ??= setImmediate(() => this.report());
    else this.#timer ??= setTimeout(() => this.report(), afterMs);
  }

  began(lateMs: number): void {
    this.#lateMs.push(lateMs);
  }

  skipped(why: SkipReason): void {
    this.#skipped[why] += 1;
  }

  /** Tells what there is to tell now. */
  report(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    const inFlight = this.#options.inFlight();
    const hasSkipped = this.#skipped.overrun + this.#skipped.overload > 0;
    const isNews = this.#packer.count > 0 || this.#lateMs.length > 0 || hasSkipped || inFlight !== this.#toldInFlight;
    if (!isNews) return;
    const results = this.#packer.take();
    const report = { type: 'report', results, lateMs: this.#lateMs, skipped: this.#skipped, inFlight } as const;
    this.#lateMs = [];
    this.#skipped = { overrun: 0, overload: 0 };
    this.#toldInFlight = inFlight;
    this.#options.send(report, [results.buffer]);
  }
}
