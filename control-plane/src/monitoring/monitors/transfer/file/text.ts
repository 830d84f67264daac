import { importLimits, invalidInput, Problem } from '@parallax/api-contract';
import type { InputErrorCode } from '@parallax/api-contract';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What people upload in place of CSV, by the first bytes. */
const strangers: readonly {
  readonly begins: readonly number[];
  readonly code: InputErrorCode;
  readonly says: string;
}[] = [
  // Office Open XML is a zip archive (ECMA-376, part 2).
  { begins: [0x50, 0x4b, 0x03, 0x04], code: 'excel', says: 'this is an Excel file (.xlsx) or another zip archive' },
  // Compound File Binary, section 2.2 of [MS-CFB].
  { begins: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], code: 'excel', says: 'this is an old Excel file (.xls)' },
  { begins: [0xff, 0xfe], code: 'utf_16', says: 'the file is in UTF-16' },
  { begins: [0xfe, 0xff], code: 'utf_16', says: 'the file is in UTF-16' },
  { begins: [0x1f, 0x8b], code: 'compressed', says: 'the file is compressed' },
  { begins: [0x25, 0x50, 0x44, 0x46], code: 'not_csv', says: 'this is a PDF file' },
];

/**
 * The text of a file in UTF-8, without its byte order mark.
 * @throws Problem `payload_too_large`, or `invalid_input` that says what the file is instead
 */
export function textOf(bytes: Buffer): string {
  if (bytes.length > importLimits.bytes) {
    throw new Problem('payload_too_large', `a file has at most ${importLimits.bytes} bytes, this one ${bytes.length}`);
  }
  const stranger = strangers.find(({ begins }) => begins.every((byte, index) => bytes[index] === byte));
  if (stranger !== undefined) throw unreadable(stranger.code, stranger.says);
  const nul = bytes.indexOf(0);
  if (nul !== -1) {
    throw unreadable('nul_character', `there is a NUL at byte ${nul}, so this is UTF-16 or no text at all`);
  }
  try {
    const text = utf8.decode(bytes);
    if (text.trim() !== '') return text;
  } catch {
    throw unreadable('encoding', 'the file is not valid UTF-8');
  }
  throw unreadable('file_empty', 'the file is empty');
}

function unreadable(code: InputErrorCode, says: string): Problem {
  return invalidInput('body', '', code, `${says}; save it as CSV in UTF-8`);
}
