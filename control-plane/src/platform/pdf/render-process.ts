import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Problem } from '@parallax/api-contract';
import type { JobAnswer, JobMessage } from './answer-jobs.ts';

export type RenderLimits = {
  /** Jobs that wait beside the one in progress; one more is refused. */
  readonly maxWaiting: number;
  /** How long one job may take; a process that takes longer is ended. */
  readonly maxMs: number;
  /** The limit of the process's heap; fonts lie outside it. */
  readonly maxHeapMb: number;
  /** A process without work is ended after so long, and its fonts with it. */
  readonly idleMs: number;
};

type Task<Job> = {
  readonly job: Job;
  readonly resolve: (file: Buffer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Renders files in a process of its own: setting a long report takes a second, for which nothing else should stand still, and what strangers wrote into
 * it must not take the control plane down. A thread is not enough: V8 ends the whole process when the heap of one comes to its limit in the wrong moment.
 * The process is started by the first job and is told no settings.
 */
export class RenderProcess<Job> {
  readonly #program: URL;
  readonly #limits: RenderLimits;
  readonly #waiting: Task<Job>[] = [];
  #running: Task<Job> | undefined;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param program a module that calls `answerJobs` */
  constructor(program: URL, limits: RenderLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  /**
   * The rendered file.
   *
   * @throws {Problem} `busy` when too many wait, `deadline_exceeded` when it took too long, `internal` when the process came to an end; and
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
    const child = (this.#child ??= this.#start());
    child.ref();
    child.channel?.ref();
    const { maxMs } = this.#limits;
    this.#timer = setTimeout(() => {
      this.#drop(
        new Problem('deadline_exceeded', `rendering the file took longer than ${maxMs / 1000} s and was given up`),
      );
    }, maxMs);
    // What cannot be sent is told by the end of the process.
    child.send({ job: task.job } satisfies JobMessage<Job>, () => undefined);
  }

  #start(): ChildProcess {
    const child = fork(this.#program, {
      // The options of this process, such as a loader or a profiler, are its own, and so are its secrets.
      execArgv: [`--max-old-space-size=${this.#limits.maxHeapMb}`],
      env: kept(['NODE_COMPILE_CACHE', 'TZ']),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (answer: JobAnswer) => {
      if (child !== this.#child) return;
      const task = this.#take();
      if ('file' in answer) task?.resolve(Buffer.from(answer.file));
      else task?.reject(answer.error);
      this.#next();
    });
    const gone = (cause: unknown): void => {
      if (child === this.#child)
        this.#drop(new Problem('internal', 'the process that renders files came to an end', { cause }));
    };
    child.on('error', gone);
    child.on('exit', (code, signal) => gone(new Error(`it ended with ${signal ?? code}`)));
    return child;
  }

  /** Gives up the job in progress and its process; the next one gets another. */
  #drop(error: Problem): void {
    this.#end();
    this.#take()?.reject(error);
    this.#next();
  }

  #take(): Task<Job> | undefined {
    clearTimeout(this.#timer);
    const task = this.#running;
    this.#running = undefined;
    return task;
  }

  #end(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGKILL');
  }

  /** A process without work keeps this one not alive, and itself not for long. */
  #rest(): void {
    this.#child?.unref();
    this.#child?.channel?.unref();
    this.#timer = setTimeout(() => this.#end(), this.#limits.idleMs);
    this.#timer.unref();
  }
}

function kept(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
