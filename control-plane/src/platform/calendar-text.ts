/** Text of a value of iCalendar (RFC 5545, 3.3.11): what has a meaning there is escaped; other control characters may not stand there at all. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\\', '\\\\')
    .replaceAll(';', String.raw`\;`)
    .replaceAll(',', String.raw`\,`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(/[^\P{Cc}\t]/gu, '');
}

const lineOctets = 75;

/** A content line in lines of at most 75 octets (RFC 5545, 3.1), never within a character of UTF-8. Without the last line end. */
export function fold(line: string): string {
  const lines: string[] = [];
  let part = '';
  let octets = 0;
  for (const character of line) {
    const length = Buffer.byteLength(character);
    // A line that goes on begins with a space, which counts.
    if (octets + length > lineOctets) {
      lines.push(part);
      part = ' ';
      octets = 1;
    }
    part += character;
    octets += length;
  }
  return [...lines, part].join('\r\n');
}

/** `20260301T020000Z` of an instant. */
export function instantText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}
