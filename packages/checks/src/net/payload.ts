const shownBytes = 4 * 1024;

/** How a customer writes bytes. */
export type PayloadFormat = 'text' | 'hex';

/** The bytes that a text stands for; hexadecimal digits may be spaced. */
export function bytesOf(text: string, format: PayloadFormat): Buffer {
  return format === 'hex' ? Buffer.from(text.replace(/\s+/g, ''), 'hex') : Buffer.from(text, 'utf8');
}

/** Whether a text is pairs of hexadecimal digits. */
export function isHex(text: string): boolean {
  return /^(\s*[0-9a-f]{2})+\s*$/i.test(text);
}

/** What came back, for a person: text where it is text, else hexadecimal; at most 4,096 characters. */
export function readable(bytes: Buffer): string {
  const part = bytes.subarray(0, shownBytes);
  const text = part.toString('utf8');
  // oxlint-disable-next-line no-control-regex -- what has control characters is not text
  return /[\0-\x08\x0e-\x1f\ufffd]/.test(text) ? part.subarray(0, shownBytes / 2).toString('hex') : text;
}
