/** For answers that are data: nothing may be loaded, framed or sniffed. */
const strictPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For the readable API document: its own scripts and styles, and requests to this very origin. */
const documentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets style attributes from its scripts; it brings no inline script.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Headers that every answer carries, also those that never reach a route.
 * @param path the path of the request, without its query
 * @param secure true when the public URL is https
 */
export function securityHeaders(path: string, secure: boolean): Readonly<Record<string, string>> {
  const isDocument = path === '/docs' || path.startsWith('/docs/');
  return {
    'content-security-policy': isDocument ? documentPolicy : strictPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-frame-options': 'DENY',
    'x-permitted-cross-domain-policies': 'none',
    ...(secure ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}
