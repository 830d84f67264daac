/** The address cannot be written to: it would break out of a header or a command, or is longer than mail allows. */
export class MailAddressError extends Error {
  override readonly name = 'MailAddressError';
}

// RFC 5321, 4.5.3.1: a path has at most 256 octets with its angle brackets, a local part at most 64.
const longest = 254;
const longestLocalPart = 64;
// Atoms of RFC 5322, 3.2.3, with dots between them. Quoted local parts, comments and address literals are mail too, but nobody needs them
// here, and each of them is a way to smuggle something past whoever reads the address next.
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const hostName =
  /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Whether exactly one mailbox stands there, in a form that can be written into headers and SMTP commands as it is. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  return (
    at > 0 &&
    text.length <= longest &&
    local.length <= longestLocalPart &&
    localPart.test(local) &&
    hostName.test(text.slice(at + 1))
  );
}

/** @throws MailAddressError, which does not repeat the address: it may be hostile and ends in logs */
export function requireMailAddress(text: string): string {
  if (!isMailAddress(text)) throw new MailAddressError('this is not one mail address in plain form');
  return text;
}

/** Enough of an address to recognise it by: `a…@example.com`. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '…' : `${address.slice(0, 1)}…${address.slice(at)}`;
}

/**
 * Reads a sender: `noreply@example.com`, or with a name `Parallax <noreply@example.com>`.
 * @throws MailAddressError when it is neither
 */
export function parseSender(text: string): { readonly name: string; readonly address: string } {
  const named = /^([^<>"\p{Cc}]{0,100}?) *<([^<>\s]+)>$/u.exec(text.trim());
  const sender =
    named === null ? { name: '', address: text.trim() } : { name: named[1] ?? '', address: named[2] ?? '' };
  requireMailAddress(sender.address);
  return sender;
}
