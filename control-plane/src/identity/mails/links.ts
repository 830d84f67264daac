/**
 * Where a mailed link leads: a page that sends the token in the body of a POST when its button is pressed. Mail scanners open links, so opening one
 * changes nothing. The token stands in the fragment, which is sent to no server and ends in no log.
 * @param publicUrl what links begin with, with or without a slash at its end
 */
export function linkTo(publicUrl: string, page: 'reset-password' | 'confirm-email', token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/auth/${page}#token=${encodeURIComponent(token)}`;
}
