import { createHash } from 'node:crypto';
import type { PageView } from '../view/page-view.ts';
import { heights } from './bars.ts';
import { toneOfIndicator, tones } from './icons.ts';
import { themeCss } from './theme.ts';
import { zoneScriptHash } from './zone-script.ts';

// Variables: bg background, s surface, t text, q quiet text, a accent, l line; u, m, d, p, x, n tones, b the ground of the banner, i its icon; c and h the
// tone and the height of what has the class of a tone. A drawing without a class of its own is an icon.
const base = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--t);font:16px/1.5 var(--f);overflow-wrap:anywhere}
.w{max-width:880px;margin:0 auto;padding:40px 24px 32px}
h1,h2,h3,h4,p,ul,ol,pre{margin:0;padding:0}
h1{font-size:1.75rem;line-height:1.25;letter-spacing:-.01em}
.lo{display:block;height:3rem;width:auto;max-width:100%;object-fit:contain;object-position:left}
h2{font-size:1.25rem;line-height:1.3;margin:48px 0 12px}
h3,h4{font-size:1rem;line-height:1.4}
ul,ol{list-style:none}
small{font-size:inherit}
a{color:var(--a);text-underline-offset:.2em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--a);outline-offset:2px;border-radius:3px}
summary{cursor:pointer;min-height:24px}
b{font-weight:600}
pre{white-space:pre-wrap}
code,pre{font:.875em/1.5 ui-monospace,'SF Mono',Menlo,'Noto Sans Mono',monospace;background:var(--bg);border-radius:4px}
code{padding:.1em .3em}
pre{padding:12px}
pre code{padding:0;font-size:inherit}
h1,h2,h3,h4,b,.bi{unicode-bidi:plaintext}
.sk{position:absolute;left:-999px}
.sk:focus{left:16px;top:8px;padding:8px 12px;background:var(--s);border-radius:var(--r);z-index:1}
main:focus{outline:0}
svg{width:1em;height:1em;flex:none;align-self:center;fill:var(--c)}
.s svg,.im svg{align-self:flex-start;margin-top:.25em}
svg+*{min-width:0}
.k{fill:none;stroke:var(--s);stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}
header{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:baseline;justify-content:space-between}
header .q{flex-basis:100%;order:3}
header ul,footer ul{display:flex;flex-wrap:wrap;gap:4px 20px}
header li a,footer li a,.no{display:inline-block;padding:4px 0}
[aria-current]{color:var(--t);text-decoration:none}
button{font:inherit;color:var(--a);background:var(--s);border:1px solid;border-radius:6px;margin:2px 0;padding:1px 8px;cursor:pointer}
button[aria-pressed=true]{color:var(--s);background:var(--a)}
.q,.me,.cs p,small,.lg,footer,.no,.rt{color:var(--q)}
.an{margin-top:24px;padding:16px 20px;border:1px solid var(--l);border-left:4px solid var(--a);border-radius:var(--r);background:var(--s)}
.ba{display:flex;gap:16px;align-items:center;margin-top:24px;padding:20px;border-radius:var(--r);border:1px solid}
.ba svg{width:2.25rem;height:2.25rem;fill:var(--i)}
.ba h2{margin:0;font-size:1.375rem}
.ba .me{color:var(--t)}
.card{background:var(--s);border:1px solid var(--l);border-radius:var(--r);margin-top:12px;padding:0 20px}
p.card{padding:20px}
.g>summary{display:flex;flex-wrap:wrap;gap:2px 16px;align-items:baseline;justify-content:space-between;position:relative;padding:14px 0 14px 26px;list-style:none}
.g>summary::-webkit-details-marker{display:none}
.g>summary::before{content:"";position:absolute;left:2px;top:22px;width:8px;height:8px;border:solid var(--q);border-width:0 2px 2px 0;transform:rotate(-45deg)}
.g[open]>summary::before{transform:translateY(-2px) rotate(45deg)}
.g[open]>summary{border-bottom:1px solid var(--l)}
.s{display:inline-flex;gap:0 .4em;align-items:baseline;color:var(--t)}
.cs>li{padding:16px 0;border-top:1px solid var(--l)}
.cs>li:first-child{border-top:0}
.h{display:flex;flex-wrap:wrap;gap:0 16px;align-items:baseline;justify-content:space-between}
.cs p,.cs details,.rt,.lg{font-size:.875rem}
.ax{display:flex;gap:12px}
.ax span{flex:1;text-align:center}
.cs summary,.lg summary{color:var(--q);width:fit-content}
.cs details{margin-top:4px}.cs details li,.lg p{padding:2px 0}.cs details ul{padding-left:16px}
.b{display:block;width:100%;height:36px;margin:6px 0 4px;align-self:auto}
.b path{fill:none;stroke:var(--c);stroke-width:var(--h);stroke-dasharray:.75 .25}
.o{position:absolute;width:0;height:0;margin:0}
.sp{display:block;width:100%;height:32px;overflow:visible}
.sp path{fill:none;stroke:var(--a);stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.rt{margin-top:10px}.cs img{display:block;width:100%;aspect-ratio:16/5;margin-top:6px}
.lg{margin:16px 0 0}
.lg ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:4px 16px}
.lg li{display:flex;gap:10px;align-items:flex-end}
.lg .b{width:8px;height:28px;margin:2px 0;flex:none}
.in{margin-top:12px;padding:16px 20px;background:var(--s);border:1px solid var(--l);border-left:4px solid var(--c);border-radius:var(--r)}
.in p+p,.up p,.im,.md{margin-top:4px}.md>*+*,.an>*+*{margin-top:8px}
.me{font-size:.875rem}
.me svg{vertical-align:-.125em;margin-right:.4em}
.up>li{margin-top:14px;padding-left:16px;border-left:2px solid var(--l)}
.md ul,.md ol,.an ul,.an ol{padding-left:1.4em;list-style:disc}
.md ol,.an ol{list-style:decimal}
.im li{display:flex;gap:.4em;align-items:baseline;font-size:.875rem}
.pa h3{margin-top:20px}
.no{display:block;margin-top:10px;font-size:.9375rem}.pa h3+.in{margin-top:8px}
.no b,.me b{color:var(--t)}.no b{margin-right:.5em}.pa>p:last-child{margin-top:20px}
footer{margin-top:56px;padding-top:16px;border-top:1px solid var(--l);font-size:.875rem}
footer .r{display:flex;flex-wrap:wrap;gap:4px 24px;justify-content:space-between}
@media(max-width:600px){.w{padding:20px 16px 24px}.card,.in,.an,.ba{padding-left:14px;padding-right:14px}h2{margin-top:36px}.ba svg{width:1.75rem;height:1.75rem}.ba h2{font-size:1.2rem}}
@media(prefers-reduced-motion:no-preference){.g>summary::before{transition:transform .15s}}
@media(forced-colors:active){:root{--t:CanvasText;--s:Canvas;--bg:Canvas;--q:CanvasText;--l:CanvasText;--a:LinkText;--i:CanvasText;--u:CanvasText;--m:CanvasText;--d:CanvasText;--p:CanvasText;--x:CanvasText;--n:GrayText}}
@media print{.w{max-width:none;padding:0}details::details-content{content-visibility:visible;display:block;block-size:auto}.card,.in,.cs>li{break-inside:avoid}h2,h3{break-after:avoid}svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}header ul,footer .r,button,.sk,.lg summary::marker{display:none}a{color:inherit}}
`;

// On the documents below the page alone, since the page itself shall be small.
const ofBelow = `
.bi{margin-bottom:8px}
.bi a::before{content:"← ";content:"← "/""}
.pm{padding:20px}.pm .up>li:first-child{margin-top:0}h1+.me{margin-top:8px}
.hi{margin-top:12px}
.hi>li{display:flex;flex-wrap:wrap;gap:0 16px;padding:8px 0;border-top:1px solid var(--l);font-size:.9375rem}
.hi>li>b{flex:0 0 4.5em}.hi ul{flex:1 1 16em}.hi>li:last-child{padding-bottom:0}
`.replaceAll('\n', '');
const ofForms = `
.fo{padding:4px 20px 20px}.fo label,.fo legend{font-weight:600}.fo>*{margin-top:16px}
.fo input:not([type=checkbox],[type=radio]){display:block;width:100%;max-width:440px;margin-top:4px;padding:8px 12px;font:inherit;color:inherit;background:var(--bg);border:1px solid var(--q);border-radius:6px}
.fo fieldset{border:0;margin:20px 0 0;padding:0;min-width:0}.fo legend{padding:0}.fo .c{display:flex;gap:.6em;align-items:baseline;padding:4px 0;font-weight:400}
.fo button,.fo+form button{padding:8px 16px;color:var(--t)}.fo+form{margin-top:12px}
`.replaceAll('\n', '');

const ofTones = tones
  .map((tone) => `.k${tone}{marker:url(#k${tone})}.${tone}{--c:var(--${tone});--h:${heights[tone]}}`)
  .join('');
const fixed = `${base.replaceAll('\n', '')}${ofTones}`;

/** What a document is drawn with. */
export type Drawing = 'page' | 'below' | 'form';

const more: Readonly<Record<Drawing, string>> = { page: '', below: ofBelow, form: `${ofBelow}${ofForms}` };

/** The style sheet of a page. */
export function styleOf({ theme, indicator }: PageView, drawing: Drawing = 'page'): string {
  const tone = toneOfIndicator(indicator);
  return `${themeCss(theme, tone)}${fixed}${more[drawing]}.ba{background:var(--b);border-color:var(--i)}`;
}

/** Nothing but this style sheet and the one script takes effect: no style of an element, nothing from elsewhere. */
export function policyOf(view: PageView, drawing: Drawing = 'page'): string {
  const hash = createHash('sha256').update(styleOf(view, drawing)).digest('base64');
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    `script-src '${zoneScriptHash}'`,
    // The favicon stands in the document.
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
