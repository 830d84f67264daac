/** Reads a file as RFC 4180 says, after a byte order mark. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  pattern.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const found = pattern.exec(text);
    if (found === null) throw new Error(`no record of CSV at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
    record.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] !== '\r\n') continue;
    records.push(record);
    record = [];
  }
  return records;
}

/** The records of one section of a report, by the names of their columns. */
export function sectionOf(text: string, section: string): Record<string, string>[] {
  const [columns = [], ...records] = parseCsv(text)
    .filter(([name]) => name === section)
    .map(([, ...cells]) => cells);
  return records.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])));
}
