import ipaddr from 'ipaddr.js';

/**
 * The IPv4 addresses that an IPv6 address stands for, when it is one of the forms that a translator or a tunnel turns into
 * IPv4: mapped and compatible (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380).
 * Empty for every other address. More than one where the form does not say which bytes hold it: all of them have to be judged.
 */
export function embeddedIpv4(address: ipaddr.IPv6): readonly ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (...places: number[]) => new ipaddr.IPv4(places.map((place) => bytes[place] ?? 0));
  const last = () => at(12, 13, 14, 15);
  const starts = (...prefix: number[]) => prefix.every((byte, place) => bytes[place] === byte);

  if (starts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)) return [last()];
  if (starts(0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0)) return [last()];
  if (starts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) return isOwnForm(bytes) ? [] : [last()];
  if (starts(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)) return [last()];
  if (starts(0, 0x64, 0xff, 0x9b, 0, 1)) return localNat64(at);
  if (starts(0x20, 0x02)) return [at(2, 3, 4, 5)];
  if (starts(0x20, 0x01, 0, 0)) {
    const client = [12, 13, 14, 15].map((place) => (bytes[place] ?? 0) ^ 0xff);
    return [at(4, 5, 6, 7), new ipaddr.IPv4(client)];
  }
  return [];
}

/** `::` and `::1` are addresses of IPv6 itself. */
function isOwnForm(bytes: readonly number[]): boolean {
  return bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1;
}

/**
 * Inside 64:ff9b:1::/48 each network picks a prefix of 48 to 96 bits, which moves the address (RFC 6052, 2.2). Each place that
 * could hold one is taken for it; places that begin with 0 are padding unless no other is left.
 */
function localNat64(at: (...places: number[]) => ipaddr.IPv4): readonly ipaddr.IPv4[] {
  const last = at(12, 13, 14, 15);
  const possible = [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), last].filter((each) => each.octets[0] !== 0);
  return possible.length === 0 ? [last] : possible;
}
