import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { stubPageOf } from './stub-pages.ts';

const html = (title: string, body: string, head = ''): string =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body>${body}</body></html>`;
const prose = (words: number): string => Array.from({ length: words }, (_none, index) => `word${index % 97}`).join(' ');

const stubs: readonly (readonly [string, string, string])[] = [
  [
    'a parking service’s script',
    'page_parked',
    html('example.com', '<script src="https://www.parkingcrew.net/jsparkcaf.php"></script>'),
  ],
  ['a parking frame', 'page_parked', html('', '<iframe src="//ww1.sedoparking.com/frame?x=1"></iframe>')],
  [
    'a parking lander',
    'page_parked',
    html('', '<div id="root"></div><script src="https://img1.wsimg.com/parking-lander/static/js/main.js"></script>'),
  ],
  [
    'a redirect to a parking service',
    'page_parked',
    '<script>window.location.href = "https://x.bodis.com/?d=1"</script>',
  ],
  [
    'a registrar’s notice',
    'page_parked',
    html('example.com is parked', '<p>This domain has been registered with Example Registrar.</p>'),
  ],
  [
    'free parking',
    'page_parked',
    html('Welcome', '<h1>example.com</h1><p>This Web page is parked free, courtesy of a registrar.</p>'),
  ],
  ['German parking', 'page_parked', html('example.de', '<h1>Diese Domain wurde soeben registriert</h1>')],
  [
    'an offer in the heading',
    'page_for_sale',
    html('example.com', '<h1>example.com</h1><h2>This domain name is for sale!</h2>'),
  ],
  [
    'an offer as the only text',
    'page_for_sale',
    html('example.com', '<p>The domain <b>example.com</b> may be for sale.</p> <a>Buy this domain</a>'),
  ],
  [
    'a marketplace form',
    'page_for_sale',
    html('Get it', '<form action="https://www.afternic.com/forsale/example.com?x"></form>'),
  ],
  ['German offer', 'page_for_sale', html('example.de', '<p>Diese Domain steht zum Verkauf.</p>')],
  ['French offer', 'page_for_sale', html('example.fr', '<h1>Ce nom de domaine est à vendre</h1>')],
  ['Russian offer', 'page_for_sale', html('example.ru', '<h1>Домен продаётся</h1>')],
  [
    'a suspended account',
    'page_suspended',
    html('Account Suspended', '<h1>This Account has been suspended.</h1><p>Contact your hosting provider.</p>'),
  ],
  [
    'a refresh to the notice',
    'page_suspended',
    '<meta http-equiv="refresh" content="0;url=http://example.com/cgi-sys/suspendedpage.cgi">',
  ],
  ['an expired domain', 'page_suspended', html('example.com', '<h1>This domain has expired</h1><p>Renew it now.</p>')],
  ['traffic used up', 'page_suspended', html('509 Bandwidth Limit Exceeded', '<h1>Bandwidth Limit Exceeded</h1>')],
  [
    'a block by order',
    'page_blocked',
    html('Blocked', '<p>Access to this website has been blocked by order of a court.</p>'),
  ],
  ['a Russian block', 'page_blocked', html('Доступ ограничен', '<h1>Доступ к запрашиваемому ресурсу ограничен</h1>')],
  ['a firewall’s notice', 'page_blocked', html('Attention Required!', '<h1>Sorry, you have been blocked</h1>')],
  [
    'a challenge',
    'page_blocked',
    html('Just a moment...', '<h2>Checking your browser before accessing example.com.</h2>'),
  ],
];

const pages: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['an ordinary page', html('Shop', '<h1>Bicycles</h1><p>Fresh wheels every day.</p>')],
  ['JSON', '{"status":"ok","message":"account suspended: 0"}'],
  [
    'a marketplace’s own page',
    html('Domains', `<h1>Find your name</h1><p>${prose(300)} This domain is for sale. Buy this domain.</p>`),
  ],
  [
    'an article about parking',
    html('What does it mean when a domain is registered?', `<p>${prose(500)} this domain is parked free</p>`),
  ],
  [
    'a page with a link to a marketplace',
    html('Blog', '<p>I sold mine at <a href="https://sedo.com/search/details?x">a market</a>.</p>'),
  ],
  [
    'a text that names a parking service',
    html('Adblock list', '<pre>parkingcrew.net\nsedoparking.com\nbodis.com</pre>'),
  ],
  ['another host that ends alike', html('x', '<script src="https://notbodis.com/a.js"></script>')],
  [
    'houses for sale',
    html('Houses for sale', '<h1>This house is for sale</h1><h2>Parking included: parked cars welcome</h2>'),
  ],
  [
    'a status page',
    html(
      'Status',
      `<h1>Incidents</h1><p>${prose(150)} 3 accounts suspended for spam; bandwidth limit exceeded on 2.</p>`,
    ),
  ],
  ['a comment', html('Home', '<!-- This domain is for sale --><p>Hello.</p>')],
  ['a hidden template', html('Home', '<template><h3>Account suspended</h3></template><p>Hello.</p>')],
  [
    'a string of a program',
    html('App', '<div id="app"></div><script>const text = {suspended: "Your account has been suspended"};</script>'),
  ],
  ['human resources', html('Jobs', '<h1>Verified humans only</h1><p>We check every browser game.</p>')],
];

void t.test('pages that stand in for another are recognised', async (t) => {
  for (const [what, code, body] of stubs) t.match(stubPageOf({ body }), { code, because: /.{10,}/ }, what);
  t.match(stubPageOf({ body: '<p>x</p>', finalUrl: 'https://www.hugedomains.com/domain_profile.cfm?d=example' }), {
    code: 'page_for_sale',
  });
});

void t.test('other pages are not', async (t) => {
  for (const [what, body] of pages) t.equal(stubPageOf({ body })?.because, undefined, what);
});

void t.test('a hostile page costs no more than its size', async (t) => {
  const hostile = [
    '<title>',
    '<h1>',
    '<script',
    '<!--',
    '<',
    'location',
    'location =',
    '<meta ',
    '<script><script',
    'this domain is ',
    '&nbsp;',
  ];
  for (const piece of hostile) {
    const body = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const took = await processorMs(() => stubPageOf({ body }));
    t.ok(took < 500, `${piece}: ${took.toFixed(0)} ms`);
  }
});
