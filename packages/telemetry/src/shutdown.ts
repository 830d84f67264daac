import type { Logger } from './logger.ts';

export type Shutdown = {
  /** Registers a step of the stop. Steps run one after another, the last registered first. */
  onShutdown(name: string, stop: () => unknown): void;
  /** Begins the stop, or joins the one that runs. Resolves with true when every step ended well and in time. */
  stop(reason: string): Promise<boolean>;
  /** Aborted when the stop begins. */
  readonly signal: AbortSignal;
};

export type ShutdownOptions = {
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** For all steps together; what is not done by then is given up and named. */
  readonly deadlineMs?: number;
  /** Where the signals come from; default: this process. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  /** Called at the end of a stop that a signal began: 0 when all went well, else 1. Default: `process.exit`. */
  readonly exit?: (code: number) => void;
};

/**
 * Ordered graceful stop. SIGTERM, SIGINT and SIGHUP (a closed terminal) begin it; any further signal means nothing more, because Ctrl-C reaches a whole process
 * group at once and a parent may forward it again.
 */
export function createShutdown(options: ShutdownOptions): Shutdown {
  const steps: { readonly name: string; readonly stop: () => unknown }[] = [];
  const controller = new AbortController();
  const exit = options.exit ?? ((code: number) => process.exit(code));
  let running: Promise<boolean> | undefined;

  const stop = (reason: string) => {
    if (running === undefined) {
      options.log.info({ reason }, 'stopping');
      running = runSteps(steps, options.log, options.deadlineMs ?? 8_000);
      controller.abort(new Error(`stopping: ${reason}`));
    }
    return running;
  };

  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    (options.signals ?? process).on(name, () => {
      if (running === undefined) void stop(name).then((isClean) => exit(isClean ? 0 : 1));
    });
  }
  return { onShutdown: (name, step) => void steps.push({ name, stop: step }), stop, signal: controller.signal };
}

async function runSteps(
  steps: { readonly name: string; readonly stop: () => unknown }[],
  log: ShutdownOptions['log'],
  deadlineMs: number,
): Promise<boolean> {
  let isClean = true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs);
  });
  // A step may register more steps (a server that came up while the stop began); they are taken too.
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { name, stop } = step;
    const ended = await Promise.race([
      (async () => stop())().then(
        () => 'done' as const,
        (error: unknown) => {
          log.error({ err: error, step: name }, 'a step of the stop failed');
          return 'failed' as const;
        },
      ),
      late,
    ]);
    if (ended !== 'done') isClean = false;
    if (ended === 'late') {
      log.error(
        { step: name, notBegun: steps.map((left) => left.name).reverse(), deadlineMs },
        'the stop took too long and was given up',
      );
      break;
    }
  }
  clearTimeout(timer);
  return isClean;
}
