/** What counts as one target for the limit of checks at the same time: the host of a URL, or of `host:port`, in lower case. */
export function targetHost(url: string): string {
  const withoutScheme = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const authority = withoutScheme.split(/[/?#]/, 1)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1 || undefined).toLowerCase();
  const parts = host.split(':');
  return (parts.length === 2 ? (parts[0] ?? '') : host).toLowerCase();
}
