import { type Failure, failed, timedOut } from '../net/failure.ts';

/** What the browser's name of an error says about the target. */
export function failureOfError(error: string): Failure {
  const name = error.replace(/^net::/, '').slice(0, 80);
  if (name === 'ERR_CERT_DATE_INVALID')
    return failed('tls_expired', sentence('The certificate is not valid now', name));
  if (name === 'ERR_CERT_COMMON_NAME_INVALID')
    return failed('tls_hostname', sentence('The certificate is for another name', name));
  if (name === 'ERR_CERT_AUTHORITY_INVALID')
    return failed('tls_untrusted', sentence('The certificate comes from an authority that is not trusted', name));
  if (name.startsWith('ERR_CERT_WEAK')) return failed('tls_weak', sentence('The certificate is too weak', name));
  if (name.startsWith('ERR_CERT_')) return failed('tls_untrusted', sentence('The certificate cannot be trusted', name));
  if (/^ERR_SSL_|^ERR_TLS_/.test(name)) return failed('tls_handshake', sentence('The TLS handshake failed', name));
  if (name.endsWith('TIMED_OUT')) return timedOut('http_timeout', sentence('The server did not answer in time', name));
  if (name === 'ERR_TOO_MANY_REDIRECTS') return failed('http_redirect', sentence('There are too many redirects', name));
  if (/^ERR_(?:INVALID_HTTP_RESPONSE|RESPONSE_HEADERS_|INVALID_CHUNKED|HTTP2_|CONTENT_DECODING)/.test(name))
    return failed('http_protocol', sentence('The server did not answer with correct HTTP', name));
  if (
    /^ERR_(?:EMPTY_RESPONSE|CONNECTION_CLOSED|CONNECTION_RESET|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED)/.test(name)
  )
    return failed('http_closed', sentence('The server closed the connection without a whole answer', name));
  return failed('pagespeed_not_loaded', sentence('The page could not be loaded', name));
}

function sentence(what: string, name: string): string {
  return `${what} (${name}).`;
}
