/** The URL of the mail server is not understood; the message names what is wrong and never the password. */
export class SmtpUrlError extends Error {
  override readonly name = 'SmtpUrlError';
}

/** How to reach a mail server. */
export type SmtpOptions = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (RFC 8314), as smtps:// says. */
  readonly secure: boolean;
  /** STARTTLS: demanded, taken where it is offered, or never. */
  readonly startTls: 'required' | 'offered' | 'never';
  /** Whether the server's certificate is judged; not on this machine's own loopback, where nobody stands in between. */
  readonly verifies: boolean;
  /** Path of a file with certificates of an own authority. */
  readonly caFile: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
};

const tlsModes = { required: 'required', offered: 'offered', none: 'never' } as const;

/**
 * Reads `smtp://user:password@host:port` (STARTTLS) or `smtps://…` (TLS from the start). STARTTLS is required except on loopback;
 * `?tls=offered` takes it where it is offered, `?tls=none` never; `?ca=/path/ca.pem` trusts an own authority.
 * @throws SmtpUrlError
 */
export function smtpOptions(text: string): SmtpOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new SmtpUrlError('the mail server must be given as smtp://host:port or smtps://host:port');
  }
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
  for (const name of url.searchParams.keys()) {
    if (name !== 'tls' && name !== 'ca') {
      throw new SmtpUrlError(`the URL of the mail server has the parameter ${name}; known are tls and ca`);
    }
  }
  const mode = url.searchParams.get('tls') ?? (isLoopback ? 'offered' : 'required');
  if (!Object.hasOwn(tlsModes, mode)) {
    throw new SmtpUrlError('tls in the URL of the mail server must be required, offered or none');
  }
  if (secure && url.searchParams.has('tls')) {
    throw new SmtpUrlError('smtps:// is TLS from the start: leave tls out of the URL of the mail server');
  }
  const user = decoded(url.username);
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    startTls: tlsModes[mode as keyof typeof tlsModes],
    verifies: !isLoopback || url.searchParams.has('ca'),
    caFile: url.searchParams.get('ca') ?? undefined,
    user,
    password: user === undefined ? undefined : (decoded(url.password) ?? ''),
  };
}

function decoded(part: string): string | undefined {
  if (part === '') return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SmtpUrlError('user and password in the URL of the mail server must be percent-encoded');
  }
}
