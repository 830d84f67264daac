/** What a browser is told in an answer that it did not follow. */
export type Stop = { readonly url: URL; readonly response: Response | undefined };

export type Browser = {
  /** Opens an address and follows redirects up to one whose address fulfils `isEnd`, which is not opened, or to an answer that is none. */
  readonly open: (url: string, isEnd: (url: URL) => boolean) => Promise<Stop>;
  /** One request, with the cookies that belong to it. */
  readonly request: (url: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** `name=value` of all cookies. */
  readonly cookies: () => readonly string[];
};

type Cookie = { readonly origin: string; readonly path: string; readonly name: string; readonly value: string };

let lastAddress = 0;

/**
 * For tests: keeps cookies by origin and path, and follows redirects.
 * @param publicUrl how the product calls itself
 * @param servedAt where it is reached
 */
export function browser(publicUrl: string, servedAt: string): Browser {
  let jar: readonly Cookie[] = [];
  const request: Browser['request'] = async (url, headers = {}) => {
    const { origin, pathname } = new URL(url);
    const cookie = jar
      .filter((kept) => kept.origin === origin && pathname.startsWith(kept.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    lastAddress += 1;
    const from = `198.19.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
    const response = await fetch(origin === publicUrl ? url.replace(publicUrl, servedAt) : url, {
      redirect: 'manual',
      headers: { 'x-forwarded-for': from, ...(cookie === '' ? {} : { cookie }), ...headers },
    });
    for (const line of response.headers.getSetCookie()) jar = withCookie(jar, origin, line);
    return response;
  };
  return {
    request,
    cookies: () => jar.map(({ name, value }) => `${name}=${value}`),
    open: async (first, isEnd) => {
      let url = new URL(first);
      for (let hops = 0; hops < 20; hops += 1) {
        if (isEnd(url)) return { url, response: undefined };
        const response = await request(url.href);
        const location = response.headers.get('location');
        if (location === null) return { url, response };
        url = new URL(location, url);
      }
      throw new Error(`too many redirects: ${url.href}`);
    },
  };
}

function withCookie(jar: readonly Cookie[], origin: string, line: string): readonly Cookie[] {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const [name = '', ...value] = pair.split('=');
  const attribute = (wanted: string) =>
    attributes.find((text) => text.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
  const cookie = { origin, path: attribute('path') ?? '/', name, value: value.join('=') };
  const others = jar.filter((kept) => kept.origin !== origin || kept.path !== cookie.path || kept.name !== name);
  const isOver = attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '') < Date.now();
  return isOver ? others : [...others, cookie];
}
