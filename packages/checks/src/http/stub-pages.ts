import type { ErrorCode } from '../outcome.ts';

/** A page that answers in the place of the one that was asked for, with the reason as part of a sentence. */
export type StubPage = {
  readonly code: Extract<ErrorCode, 'page_parked' | 'page_suspended' | 'page_for_sale' | 'page_blocked'>;
  readonly because: string;
};

/** What is looked at; a subset of what is known of a run. */
export type SeenPage = {
  readonly body?: string;
  readonly headers?: ReadonlyArray<readonly [string, string]>;
  readonly finalUrl?: string;
};

type Code = StubPage['code'];
type Feature = { readonly code: Code; readonly pattern: RegExp; readonly because: string };

/** Such pages are small; of a larger one the beginning is looked at. */
const lookedAt = 64 * 1024;
/** A page with more text than this has a subject of its own, whatever sentence occurs in it. */
const maxWords = 400;

/**
 * Hosts and scripts that only such pages use. One of these is enough, however long the page is: nobody's own page loads them.
 * Every pattern is bounded by literals, so that its time grows with the page and no faster.
 */
const marks: readonly Feature[] = [
  mark('page_parked', 'parkingcrew.net', 'it loads the parking service ParkingCrew'),
  mark('page_parked', 'sedoparking.com', 'it loads the parking service Sedo'),
  mark('page_parked', 'bodis.com', 'it loads the parking service Bodis'),
  mark('page_parked', 'parklogic.com', 'it loads the parking service ParkLogic'),
  mark('page_parked', 'above.com/marketplace', 'it loads the parking service Above'),
  mark('page_parked', 'd38psrni17bvxu.cloudfront.net', 'it loads the files of a parking service'),
  mark('page_parked', 'img1.wsimg.com/parking-lander', 'it is the parking page of a registrar'),
  mark('page_parked', 'parking.reg.ru', 'it is the parking page of a registrar'),
  mark('page_for_sale', 'afternic.com/forsale', 'it leads to the marketplace Afternic'),
  mark('page_for_sale', 'dan.com/buy-domain', 'it leads to the marketplace Dan'),
  mark('page_for_sale', 'hugedomains.com/domain_profile', 'it leads to the marketplace HugeDomains'),
  mark('page_for_sale', 'sedo.com/search/details', 'it leads to the marketplace Sedo'),
  mark('page_suspended', '/cgi-sys/suspendedpage.cgi', 'it is the page of a suspended hosting account'),
];

/** Sentences that such pages are made of. They count in a short page, and in its title or a heading. */
const sentences: readonly Feature[] = [
  said('page_for_sale', /\bthis (?:premium )?domain(?: name)? (?:is|may be|might be) (?:available )?for sale\b/i),
  said(
    'page_for_sale',
    /\bthe (?:premium )?domain(?: name)? \S{1,100} (?:is|may be|might be) (?:available )?for sale\b/i,
  ),
  said('page_for_sale', /\bbuy this domain\b/i),
  said('page_for_sale', /\b(?:this )?domain (?:name )?is listed for sale\b/i),
  said('page_for_sale', /\bdiese domain steht zum verkauf\b/i),
  said('page_for_sale', /\bce (?:nom de )?domaine est à vendre\b/i),
  said('page_for_sale', /\beste dominio está (?:a la|en) venta\b/i),
  said('page_for_sale', /(?<!\p{L})домен (?:выставлен на продажу|продается|продаётся)(?!\p{L})/iu),
  said('page_parked', /\bthis domain (?:name )?(?:is|has been) (?:currently )?parked\b/i),
  said('page_parked', /\bparked (?:free|for free|domain name|by the owner)\b/i),
  said('page_parked', /\bthis (?:web ?page|site|website|domain) is parked\b/i),
  said('page_parked', /\bthis domain (?:name )?(?:has been|was) (?:recently )?registered (?:with|at|by|via)\b/i),
  said('page_parked', /\bdiese domain (?:ist|wurde) (?:geparkt|soeben registriert|bereits registriert)\b/i),
  said('page_parked', /\bdomain owner has not (?:yet )?uploaded\b/i),
  said(
    'page_suspended',
    /\b(?:this|your) (?:account|site|website|web site|hosting account|domain)(?: name)? (?:has been|is|was) (?:temporarily |currently )?suspended\b/i,
  ),
  said('page_suspended', /\b(?:account|site|website|domain) suspended\b/i),
  said('page_suspended', /\bdiese (?:webseite|website|seite|domain) (?:ist|wurde) (?:vorübergehend )?gesperrt\b/i),
  said('page_suspended', /\bthis domain (?:has expired|is expired|name has expired|registration has expired)\b/i),
  said('page_suspended', /\bbandwidth limit exceeded\b/i),
  said(
    'page_blocked',
    /\baccess to (?:this|the requested) (?:web ?site|site|page|resource|url) (?:has been|is) (?:blocked|restricted|denied)\b/i,
  ),
  said(
    'page_blocked',
    /\bthis (?:web ?site|site|page) (?:has been|is) blocked (?:by|under|pursuant|in accordance|for legal)\b/i,
  ),
  said(
    'page_blocked',
    /\bblocked by (?:order of|court order|your (?:internet )?(?:service )?provider|your network administrator)\b/i,
  ),
  said(
    'page_blocked',
    /(?<!\p{L})сайт заблокирован(?!\p{L})|доступ к (?:запрашиваемому )?(?:ресурсу|сайту|информационному ресурсу) (?:ограничен|заблокирован)/iu,
  ),
  said('page_blocked', /\bsorry, you have been blocked\b/i),
  said(
    'page_blocked',
    /\bverify(?:ing)? (?:that )?you are (?:a )?human\b|\bchecking (?:if the site connection is secure|your browser before accessing)\b/i,
  ),
];

/** The text stands at the beginning of a host or a path. */
function mark(code: Code, text: string, because: string): Feature {
  const literal = text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const before = text.startsWith('/') ? '' : `(?:^|[/."'@=\\s])`;
  return { code, pattern: new RegExp(before + literal, 'i'), because };
}

function said(code: Code, pattern: RegExp): Feature {
  return { code, pattern, because: 'it says' };
}

/**
 * Recognises a page that stands in for another: a parked, suspended or offered domain, or a provider's notice of a block. Decides by
 * addresses that only such pages load, and by their sentences where the page is short and has them in its title, a heading or as its only
 * content. A long page that quotes such a sentence, or one that offers domains as its business, is no stub. Undefined for all others.
 */
export function stubPageOf(page: SeenPage): StubPage | undefined {
  const body = (page.body ?? '').slice(0, lookedAt);
  const source = `${sourcesIn(body)}\n${page.finalUrl ?? ''}`;
  for (const { code, pattern, because } of marks) if (pattern.test(source)) return { code, because };
  if (!/<(?:html|head|body|title|h1|h2|p|div)\b/i.test(body)) return undefined;
  const text = visibleText(body);
  if (countWords(text) > maxWords) return undefined;
  const prominent = `${prominentText(body)} ${countWords(text) <= shortWords ? text : ''}`;
  for (const { code, pattern } of sentences) {
    const found = pattern.exec(prominent)?.[0];
    if (found !== undefined) return { code, because: `it says "${found.trim().slice(0, 100)}"` };
  }
  return undefined;
}

/** Below this many words a page has nothing but what it says. */
const shortWords = 120;

/** What a page loads by itself or sends its reader to at once; links that a reader may follow are no sign. */
function sourcesIn(html: string): string {
  const found = html.matchAll(/<(?:script|iframe|frame|img|link|meta|form)\b([^<>]{0,2000})>/gi);
  const redirects = html.matchAll(/\blocation(?:\.href)?\s{0,5}=\s{0,5}["']([^"']{0,500})/gi);
  return [...found, ...redirects].map((each) => each[1]).join('\n');
}

/** Title and headings. */
function prominentText(html: string): string {
  const found = html.matchAll(/<(title|h1|h2)\b[^<>]{0,500}>([^]{0,500}?)<\/\1\s{0,5}>/gi);
  return [...found].map((each) => plain(each[2] ?? '')).join(' . ');
}

/** Text as a reader sees it, about. */
function visibleText(html: string): string {
  const shown = html
    .replace(/<(script|style|template|noscript)\b[^]*?(?:<\/\1\s{0,5}>|$)/gi, ' ')
    .replace(/<!--[^]*?(?:-->|$)/g, ' ');
  return plain(shown.replace(/<title\b[^]*?(?:<\/title\s{0,5}>|$)/gi, ' '));
}

function plain(html: string): string {
  return html
    .replace(/<[^<>]{0,5000}>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .replace(/&(?:#39|apos|rsquo);/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
}

function countWords(text: string): number {
  return text.split(' ').length;
}
