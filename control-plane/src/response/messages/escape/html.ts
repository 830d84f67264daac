/** For text and quoted attributes of HTML: Telegram's subset, Matrix (`org.matrix.custom.html`), mails. Telegram knows no other named entities. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
