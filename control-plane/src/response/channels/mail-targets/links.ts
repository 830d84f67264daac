/** Where a link of a mail target leads: a page whose button acts, and which takes the one-click POST of RFC 8058. */
export function mailTargetUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/api/v1/public/mail-alerts/${encodeURIComponent(token)}`;
}
