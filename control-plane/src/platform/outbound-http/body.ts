/** A body as it is sent, and what it says it is unless the request names a type itself. */
export type EncodedBody = { readonly bytes: Buffer; readonly type: string } | undefined;

/** An object as JSON, URLSearchParams as a form, text and bytes as they are. */
export function encodeBody(body: unknown): EncodedBody {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return { bytes: Buffer.from(body), type: 'text/plain; charset=utf-8' };
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body), type: 'application/octet-stream' };
  if (body instanceof URLSearchParams) {
    return { bytes: Buffer.from(body.toString()), type: 'application/x-www-form-urlencoded' };
  }
  return { bytes: Buffer.from(JSON.stringify(body)), type: 'application/json' };
}

/** The text as JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
