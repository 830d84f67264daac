import type { DestinationStream } from 'pino';

/** Turns JSON lines into `12:03:44 warn  control-plane: text key=value` for a terminal. */
export function readableLines(output: DestinationStream): DestinationStream {
  return { write: (line: string) => output.write(readableLine(line)) };
}

/** One JSON line as a line for people, ended by a line break; anything else is passed on as it is, with `end` after it. */
export function readableLine(line: string, end = ''): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line + end;
  }
  if (typeof fields !== 'object' || fields === null) return line + end;
  const { time, level, name, msg, ...rest } = fields;
  const clock = String(time).slice(11, 19);
  const details = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${clock} ${String(level).padEnd(5)} ${String(name)}: ${[typeof msg === 'string' ? msg : '', ...details].join(' ')}\n`;
}
