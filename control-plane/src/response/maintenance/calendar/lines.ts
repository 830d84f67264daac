/** The text of an escaped value. */
export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\\;,nN])/g, (_match, escaped: string) =>
    escaped === 'n' || escaped === 'N' ? '\n' : escaped,
  );
}

/** Content lines without their folds; blank ones are left out. */
export function unfold(text: string): string[] {
  return text
    .replaceAll(/\r\n|\r/g, '\n')
    .replaceAll(/\n[ \t]/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** A property with its parameters, names in upper case. */
export type ContentLine = {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
};

/** Reads an unfolded line; undefined when it is none. A parameter's value may be quoted, so a colon in it ends nothing. */
export function readLine(line: string): ContentLine | undefined {
  const name = /^[A-Za-z0-9-]+/.exec(line)?.[0];
  if (name === undefined) return undefined;
  const parameters = new Map<string, string>();
  let rest = line.slice(name.length);
  while (rest.startsWith(';')) {
    const [whole, key, quoted, plain] = /^;([A-Za-z0-9-]+)=(?:"([^"]*)"|([^";:,]*))/.exec(rest) ?? [];
    if (whole === undefined || key === undefined) return undefined;
    parameters.set(key.toUpperCase(), quoted ?? plain ?? '');
    rest = rest.slice(whole.length);
    // Further values of a list.
    rest = rest.replace(/^(?:,(?:"[^"]*"|[^";:,]*))+/, '');
  }
  if (!rest.startsWith(':')) return undefined;
  return { name: name.toUpperCase(), parameters, value: rest.slice(1) };
}
