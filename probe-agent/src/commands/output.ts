/** Where a command writes its answer. */
export type Output = {
  readonly line: (text: string) => void;
  /** What a terminal can show; absent where the answer goes into a file or a pipe. */
  readonly terminal?: { readonly columns: number; readonly colours: boolean } | undefined;
};

/** What a stream can show: nothing special unless it is a terminal. Colours are left out where NO_COLOR is set (no-color.org) or the terminal is dumb. */
export function terminalOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Output['terminal'] {
  if (stream.isTTY !== true) return undefined;
  return { columns: stream.columns ?? 80, colours: (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' };
}

/** A command was asked for in a way that it does not know: exit code 2. The message says what is wrong and what is right. */
export class UsageError extends Error {}
