/** A form that is not as RFC 7578 says, or without a file. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError';
}

/** Header lines of one part in bytes; browsers send some hundred. */
const maxHeadBytes = 8_192;
/** Parts before the file; a form has a handful. */
const maxParts = 32;

/** The boundary of a `multipart/form-data` media type, or undefined when it names none that is valid (RFC 2046, section 5.1.1). */
export function boundaryOf(contentType: string): string | undefined {
  const given = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType);
  const boundary = given?.[1] ?? given?.[2];
  return boundary !== undefined && /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)
    ? boundary
    : undefined;
}

/**
 * The content of the first part with a file name, as a view into the body. One pass, nothing is copied.
 * @throws MultipartError
 */
export function firstFile(body: Buffer, boundary: string): Buffer {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  // The first delimiter may stand at the very beginning, without a line end before it.
  let at = body.indexOf(delimiter.subarray(2));
  if (at !== 0 && (at < 2 || body.toString('latin1', at - 2, at) !== '\r\n')) {
    at = body.indexOf(delimiter);
    if (at !== -1) at += 2;
  }
  if (at === -1) throw new MultipartError('the form does not have the boundary that its media type names');
  at += delimiter.length - 2;
  for (let part = 0; part < maxParts; part += 1) {
    if (body.toString('latin1', at, at + 2) === '--') throw new MultipartError('the form has no file');
    const head = headOf(body, at);
    const end = body.indexOf(delimiter, head.end);
    if (end === -1) throw new MultipartError('the form ends in the middle of a part');
    if (/^content-disposition:[^\r\n]*;\s*filename\*?=/im.test(head.text)) return body.subarray(head.end, end);
    at = end + delimiter.length;
  }
  throw new MultipartError(`there is no file among the first ${maxParts} parts of the form`);
}

/** The header lines of the part whose delimiter ends at `at`, and where its content begins. */
function headOf(body: Buffer, at: number): { readonly text: string; readonly end: number } {
  const limit = Math.min(body.length, at + maxHeadBytes);
  const text = body.toString('latin1', at, limit);
  const end = text.indexOf('\r\n\r\n');
  if (!/^[ \t]*\r\n/.test(text) || end === -1) throw new MultipartError('a part of the form has no proper header');
  return { text: text.slice(0, end), end: at + end + 4 };
}
