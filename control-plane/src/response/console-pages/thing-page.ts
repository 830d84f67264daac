import { smallPage } from '../../platform/http/page.ts';
import type { Page } from '../../platform/http/page.ts';
import { escapeHtml } from '../../platform/mail/letter.ts';
import { thingWords } from './words.ts';
import type { Thing } from './words.ts';

/** The page of something that a message leads to: says by which request its facts are read. It reads nothing, so it is the same for everybody. */
export function thingPage(thing: Thing, id: number, publicUrl: string, locale: 'en' | 'ru'): Page {
  const words = thingWords[locale];
  const base = publicUrl.replace(/\/+$/, '');
  const title = words.titles[thing](id);
  return smallPage({
    locale,
    title,
    parts: [
      `<h1>${escapeHtml(title)}</h1>`,
      `<p>${escapeHtml(words.text)}</p>`,
      `<p><code>curl -H 'authorization: Bearer …' ${escapeHtml(`${base}/api/v1/${thing}s/${id}`)}</code></p>`,
      `<p class="hint">${escapeHtml(words.hints[thing])}</p>`,
      `<p class="hint"><a href="${escapeHtml(`${base}/docs`)}">${escapeHtml(words.documentation)}</a></p>`,
    ],
  });
}
