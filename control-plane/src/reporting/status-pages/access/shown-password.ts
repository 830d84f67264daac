/** Longer texts cannot be the password of a page; in UTF-8 a character has four bytes at most, and base64 makes four of three. */
const mostHeaderCharacters = 1_200;

/** The password that a request shows: in `X-Status-Password`, or by Basic authentication (RFC 7617), whose name of a user does not matter. */
export function shownPassword(header: (name: string) => string | undefined): string | undefined {
  const plain = header('x-status-password');
  // Node reads headers as ISO 8859-1; what programs send is UTF-8.
  if (plain !== undefined) return passwordOf(Buffer.from(plain.slice(0, mostHeaderCharacters), 'latin1').toString());
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(header('authorization') ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded.slice(0, mostHeaderCharacters), 'base64').toString();
  const colon = decoded.indexOf(':');
  return colon === -1 ? undefined : passwordOf(decoded.slice(colon + 1));
}

/** A password in the form in which it is hashed. */
export function passwordOf(text: string): string | undefined {
  return text === '' ? undefined : text.normalize('NFC');
}
