/** One content line of a calendar (RFC 5545, section 3.1). Names are in upper case. */
export type ContentLine = {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
};

const mostOctets = 75;

/** Folds a line at 75 octets, never within a character, and ends it. */
export function foldLine(line: string): string {
  let folded = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > mostOctets) {
      folded += '\r\n ';
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return `${folded}\r\n`;
}

/** A text as a value (section 3.3.11). What is no character of a text line is left out. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n');
}

/** The text of a value. */
export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\\;,nN])/g, (_, escaped: string) => (escaped.toLowerCase() === 'n' ? '\n' : escaped));
}

/** The lines of a calendar, unfolded. What is no content line is left out. */
export function readLines(text: string): ContentLine[] {
  const unfolded = text.replace(/^\ufeff/, '').replaceAll(/\r?\n[ \t]/g, '');
  return unfolded.split(/\r?\n/).flatMap((line) => {
    const read = readLine(line);
    return read === undefined ? [] : [read];
  });
}

function readLine(line: string): ContentLine | undefined {
  const name = /^[A-Za-z0-9-]{1,100}/.exec(line)?.[0];
  if (name === undefined) return undefined;
  const parameters = new Map<string, string>();
  let at = name.length;
  while (line[at] === ';') {
    const parameter = /;([A-Za-z0-9-]{1,100})=(?:"([^"]*)"|([^";:,]*))(?:,(?:"[^"]*"|[^";:,]*))*/y;
    parameter.lastIndex = at;
    const match = parameter.exec(line);
    if (match === null) return undefined;
    parameters.set((match[1] ?? '').toUpperCase(), match[2] ?? match[3] ?? '');
    at = parameter.lastIndex;
  }
  return line[at] === ':' ? { name: name.toUpperCase(), parameters, value: line.slice(at + 1) } : undefined;
}
