import { createLogger, type Logger } from '@parallax/telemetry';

/** A logger that says nothing. */
export const quietLog: Logger = createLogger({ name: 'test', level: 'silent', destination: { write: () => {} } });

/** A logger whose lines are kept, parsed, for tests that look at them. */
export function keptLog(level: 'debug' | 'info' = 'debug'): {
  readonly log: Logger;
  readonly lines: Record<string, unknown>[];
} {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  };
  return { log: createLogger({ name: 'test', level, destination: { write } }), lines };
}
