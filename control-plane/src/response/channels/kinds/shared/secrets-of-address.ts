/** What of an address that is a credential must not be repeated: it whole, and its parts that are long enough to be secret. */
export function secretsOf(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [address];
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()];
  return [address, ...parts.filter((part) => part.length >= 8)];
}
