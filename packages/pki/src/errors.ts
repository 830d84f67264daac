/** A certificate, key, signing request or proof is not acceptable; the message says why. */
export class PkiError extends Error {
  override readonly name = 'PkiError';
}
