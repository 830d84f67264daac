/** For text and quoted attributes of HTML: Telegram's subset, which knows these escapes, Matrix (`org.matrix.custom.html`), mails. */
export { escapeHtml } from '../../../platform/mail/letter.ts';
