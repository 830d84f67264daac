/** What is checked, as a report shows it to a customer: a URL without its user, its query and its fragment, where tokens stand. */
export function shownTarget(url: string): string {
  if (!URL.canParse(url)) return url.replace(/[?#].*$/s, '');
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  parsed.search = '';
  parsed.hash = '';
  return parsed.href;
}
