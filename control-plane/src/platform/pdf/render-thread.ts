import { Worker } from 'node:worker_threads';
import { Problem } from '@parallax/api-contract';
import type { JobAnswer, JobMessage } from './answer-jobs.ts';

export type RenderLimits = {
  /** Jobs that wait beside the one in progress; one more is refused. */
  readonly maxWaiting: number;
  /** Of one job; a thread that takes longer is ended. */
  readonly maxMs: number;
  /** Of the thread's heap; without the fonts, which lie outside. */
  readonly maxHeapMb: number;
  /** A thread without work is ended after so long, and its fonts with it. */
  readonly idleMs: number;
};

type Task<Job> = {
  readonly job: Job;
  readonly resolve: (file: Buffer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Renders files on a thread of its own: setting a long report takes a second, for which nothing else of the process should stand still, and what
 * strangers wrote into it must not take it down. The thread is started by the first job.
 */
export class RenderThread<Job> {
  readonly #program: URL;
  readonly #limits: RenderLimits;
  readonly #waiting: Task<Job>[] = [];
  #running: Task<Job> | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param program a module that calls `answerJobs` */
  constructor(program: URL, limits: RenderLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  /**
   * The rendered file.
   *
   * @throws {Problem} `busy` when too many wait, `deadline_exceeded` when it took too long, `internal` when the thread came to an end; and
   *   what the renderer threw
   */
  run(job: Job): Promise<Buffer> {
    if (this.#waiting.length >= this.#limits.maxWaiting)
      return Promise.reject(
        new Problem('busy', `${this.#limits.maxWaiting} files wait to be rendered already: try again in a moment`, {
          retryAfterSeconds: 5,
        }),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    const task = this.#waiting.shift();
    if (task === undefined) {
      this.#rest();
      return;
    }
    this.#running = task;
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    const { maxMs } = this.#limits;
    this.#timer = setTimeout(() => {
      this.#drop(
        new Problem('deadline_exceeded', `rendering the file took longer than ${maxMs / 1000} s and was given up`),
      );
    }, maxMs);
    worker.postMessage({ job: task.job } satisfies JobMessage<Job>, []);
  }

  #start(): Worker {
    const worker = new Worker(this.#program, {
      name: 'render',
      // The options of the process, such as a loader or a profiler, are its own.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeapMb },
    });
    worker.on('message', (answer: JobAnswer) => {
      if (worker !== this.#worker) return;
      const task = this.#take();
      if ('file' in answer) task?.resolve(Buffer.from(answer.file.buffer));
      else task?.reject(answer.error);
      this.#next();
    });
    const gone = (cause: unknown): void => {
      if (worker === this.#worker)
        this.#drop(new Problem('internal', 'the thread that renders files came to an end', { cause }));
    };
    worker.on('error', gone);
    worker.on('exit', (code) => gone(new Error(`the thread ended with ${code}`)));
    return worker;
  }

  /** Gives up the job in progress and its thread; the next one gets another. */
  #drop(error: Problem): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#take()?.reject(error);
    this.#next();
  }

  #take(): Task<Job> | undefined {
    clearTimeout(this.#timer);
    const task = this.#running;
    this.#running = undefined;
    return task;
  }

  /** A thread without work keeps no process alive, and not itself for long. */
  #rest(): void {
    this.#worker?.unref();
    this.#timer = setTimeout(() => {
      const worker = this.#worker;
      this.#worker = undefined;
      void worker?.terminate();
    }, this.#limits.idleMs);
    this.#timer.unref();
  }
}
