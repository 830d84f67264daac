export type ConfigEntry = { readonly name: string; readonly value: string; readonly line: number };
export type ConfigProblem = { readonly line: number; readonly text: string };

/**
 * Reads lines `NAME=value`. The dialect is what `EnvironmentFile=` of systemd and `env_file` of Compose read alike, so one file
 * serves all three; whatever they read differently is refused:
 *
 * - empty lines, and lines that begin with `#`, say nothing;
 * - no blanks around the name or before the value, no `export`;
 * - a value stands bare, or whole in single or double quotes. In single quotes every character counts. Bare and in double quotes there is no `$` and no
 *   backslash, and bare there is no quote, and no blank before a `#`;
 * - a value is one line.
 *
 * Gives what can be read and every line that cannot be. No problem tells anything of a value. Pure.
 */
export function parseConfig(text: string): {
  readonly entries: readonly ConfigEntry[];
  readonly problems: readonly ConfigProblem[];
} {
  const entries: ConfigEntry[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1;
    const content = raw.replace(/[ \t\r]+$/, '');
    if (content === '' || content.startsWith('#')) continue;
    const read = parseLine(content);
    if (typeof read === 'string') problems.push({ line, text: read });
    else entries.push({ ...read, line });
  }
  return { entries, problems };
}

function parseLine(content: string): { name: string; value: string } | string {
  if (content.startsWith('\uFEFF')) return 'the file begins with a byte order mark: save it without one';
  if (/^\s/.test(content)) return 'begins with a blank';
  if (content.startsWith('export ')) return 'begins with export: write NAME=value';
  const equals = content.indexOf('=');
  if (equals === -1) return 'is no setting: write NAME=value';
  const name = content.slice(0, equals);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'has no name before the =, or blanks around it: write NAME=value';
  const value = valueOf(content.slice(equals + 1));
  return typeof value === 'string' ? `${name}: ${value}` : { name, value: value.text };
}

function valueOf(written: string): { readonly text: string } | string {
  if (/\p{Cc}/u.test(written.replaceAll('\t', ' '))) return 'the value has control characters';
  const quote = written[0];
  if (quote === "'" || quote === '"') {
    const end = written.indexOf(quote, 1);
    if (end === -1) return 'the quote is not closed on this line';
    if (end !== written.length - 1) return 'something follows the closing quote';
    const inside = written.slice(1, end);
    return quote === "'" ? { text: inside } : (ambiguous(inside) ?? { text: inside });
  }
  if (/^\s/.test(written)) return 'a blank follows the =';
  if (/["']/.test(written)) return 'quotes stand around the whole value or not at all';
  if (/\s#/.test(written))
    return 'a # after a blank is a comment to some and part of the value to others: put the value in quotes, or the comment on a line of its own';
  return ambiguous(written) ?? { text: written };
}

function ambiguous(value: string): string | undefined {
  return /[\\$]/.test(value)
    ? 'a $ or a backslash means something to some readers: put the value in single quotes'
    : undefined;
}
