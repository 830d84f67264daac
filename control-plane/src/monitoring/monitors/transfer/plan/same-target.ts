const web: ReadonlySet<string> = new Set(['http', 'https', 'api']);

/**
 * The form in which targets of one protocol are compared. Schemes and hosts have no case (RFC 3986, 6.2.2.1); a web address has a usual port and an empty
 * path as well, and its fragment never reaches the server. Everything else may mean something to its protocol and stays.
 */
export function normalTarget(protocol: string, target: string): string {
  if (web.has(protocol) && /^https?:/i.test(target) && URL.canParse(target)) {
    const url = new URL(target);
    url.hash = '';
    return url.href;
  }
  const [, scheme = '', user = '', host = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)?([^/?#@]*@)?([^/?#]*)(.*)$/is.exec(target) ?? [];
  return `${scheme.toLowerCase()}${user}${host.toLowerCase()}${rest}`;
}
