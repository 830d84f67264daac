import { pino, type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { readableLines } from './readable-lines.ts';
import { redact } from './redact.ts';

/** `logger.info({ monitorId }, 'text')`; `logger.child({ capability: 'ingest' })`. */
export type Logger = PinoLogger;

export type LoggerOptions = {
  /** Which program speaks: `control-plane`, `probe-agent`, `supervisor`. */
  readonly name: string;
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Default: standard output, written synchronously so that nothing is lost when the process ends. */
  readonly destination?: DestinationStream;
  /** Lines for people instead of JSON. Default: when standard output is a terminal and no destination is given. */
  readonly readable?: boolean;
};

/**
 * A logger of JSON lines: time in ISO 8601, level as a word, secrets redacted at any depth (see `isSecretKey`) in objects, errors,
 * child bindings and in the passwords of URLs.
 */
export function createLogger(options: LoggerOptions): Logger {
  const output = options.destination ?? pino.destination({ fd: 1, sync: true });
  const readable = options.readable ?? (options.destination === undefined && process.stdout.isTTY);
  const logger = pino(
    {
      name: options.name,
      level: options.level ?? 'info',
      base: {},
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (value: unknown) => value },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method) {
          // An error alone becomes { err } here, so that it passes the redaction like any other field.
          const [first, ...rest] = args as [unknown, ...unknown[]];
          const safe =
            first instanceof Error ? [{ err: first }, ...(rest.length > 0 ? rest : [first.message])] : [first, ...rest];
          method.apply(
            this,
            safe.map((item, index) => (index > 0 || typeof item === 'string' ? redact(item) : item)) as typeof args,
          );
        },
      },
    },
    readable ? readableLines(output) : output,
  );
  return redactChildren(logger);
}

/** Child bindings bypass pino's formatters, so they are redacted on the way in. Children inherit this method from their parent. */
function redactChildren(logger: Logger): Logger {
  const original = Object.getPrototypeOf(logger) as { readonly child: (...args: unknown[]) => Logger };
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): Logger {
      return Reflect.apply(original.child, this, [redact(bindings), options]);
    },
  });
}
