import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import type { Answer, Tab } from '../formats/testing/browser.ts';
import type { PageView } from '../view/page-view.ts';
import { htmlDocuments } from './documents.ts';
import { answerWith, inBrowser, isTooWide, look, shownAt, violations } from './testing/in-tab.ts';
import { type Rendered, allDocuments, documentsOf, sample } from './testing/rendered.ts';

type Show = (each: Rendered) => Promise<void>;
type Story = (t: Test, tab: Tab, show: Show) => Promise<void>;

function answerOf({ view, path, html }: Rendered): Answer {
  const document = htmlDocuments.find((each) => each.path === path);
  if (typeof document?.policy !== 'function') throw new Error(`There is no policy at "${path}".`);
  return answerWith(html, document.policy(view));
}

const openAll = `document.querySelectorAll('details').forEach((each) => { each.open = true; })`;
const stories: Readonly<Record<string, Story>> = {
  'Nothing stands in the way of anybody (WCAG 2.2 AA), and nothing goes beyond the side of the window': async (
    t,
    tab,
    show,
  ) => {
    // Each takes most of a second. Below the pages that are left out there is nothing of a kind that others do not have.
    const isSeen = ({ name, locale, view, path }: Rendered): boolean =>
      locale === view.locale
        ? path === '' ||
          (path === '/subscribe' ? name.startsWith('outage') : !/^(?:large|nothing known|hostile|all up)/.test(name))
        : name === 'outage, ru';
    for (const [at, each] of allDocuments.filter(isSeen).entries()) {
      const [first, second] = at % 2 === 0 ? (['light', 'dark'] as const) : (['dark', 'light'] as const);
      await look(tab, 320, first);
      await show(each);
      await tab.evaluate(openAll);
      for (const width of [320, 390, 1280]) {
        await look(tab, width, first);
        t.notOk(await isTooWide(tab, width), `${each.name}, ${width}`);
      }
      // It has nothing but a number of components that others have not.
      if (each.name.startsWith('large')) continue;
      await look(tab, at % 3 === 0 ? 320 : 1280, first);
      t.same(await violations(tab), [], `${each.name}, ${first}`);
      await look(tab, at % 3 === 0 ? 320 : 1280, second);
      t.same(await violations(tab, ['color-contrast']), [], `${each.name}, ${second}`);
    }
  },

  'Without scripts all is there: links, and what opens by mouse and keyboard': async (t, tab, show) => {
    await look(tab, 1280, 'light');
    await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
    await show(outage());
    t.equal(await tab.evaluate(`document.querySelectorAll('button').length`), 0);
    const section = `document.querySelector('details')`;
    t.equal(await tab.evaluate(`${section}.open`), true);
    const { x, y } = z
      .object({ x: z.number(), y: z.number() })
      .parse(
        await tab.evaluate(`(({ x, y }) => ({ x: x + 5, y: y + 5 }))(${section}.firstChild.getBoundingClientRect())`),
      );
    for (const type of ['mousePressed', 'mouseReleased'])
      await tab.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    await tab.until(`${section}.open === false`);
    await tab.evaluate(`${section}.firstChild.focus()`);
    await press(tab, 'Enter');
    await tab.until(`${section}.open`);
    t.pass('it opens by mouse and by keyboard');
  },

  'By keyboard, the content is the first to be reached, and where one is can be seen': async (t, tab, show) => {
    await look(tab, 1280, 'light');
    await show(outage());
    await press(tab, 'Tab');
    t.equal(await tab.evaluate(`document.activeElement.getAttribute('href')`), '#main');
    t.ok(
      await tab.evaluate(`document.activeElement.getBoundingClientRect().left >= 0`),
      'the link is seen while it has the focus',
    );
    await press(tab, 'Enter');
    await tab.until(`document.activeElement.id === 'main'`);
    const reached: unknown[] = [];
    for (let at = 0; at < 40; at += 1) {
      await press(tab, 'Tab');
      reached.push(
        await tab.evaluate(`(({ tagName }, { outlineStyle, outlineWidth }) => outlineStyle === 'solid' && outlineWidth === '3px' ? tagName : 'unseen ' + tagName)(
          document.activeElement, getComputedStyle(document.activeElement))`),
      );
      if (await tab.evaluate(`document.activeElement.tagName === 'BUTTON'`)) break;
    }
    t.same(new Set(reached), new Set(['A', 'SUMMARY', 'BUTTON']));
    t.equal(reached.at(-1), 'BUTTON', 'the last is what shows the times of the reader');
  },

  'The script shows all times in the zone of the reader, and again in that of the page': async (t, tab, show) => {
    await tab.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' });
    await show(outage());
    const times = `[...document.querySelectorAll('time[datetime$=Z]')].map(({ textContent }) => textContent)`;
    const before = await tab.evaluate(times);
    const button = `document.querySelector('button')`;
    t.equal(await tab.evaluate(`${button}.textContent`), 'Show times in Asia/Tokyo');
    t.equal(await tab.evaluate(`${button}.ariaPressed`), 'false');
    await tab.evaluate(`${button}.click()`);
    t.equal(await tab.evaluate(`${button}.ariaPressed`), 'true');
    const after = z.array(z.string()).parse(await tab.evaluate(times));
    t.equal(after.length, z.array(z.string()).parse(before).length);
    t.equal(after[0], '27 Nov 2026, 23:03', '15:03 in Berlin');
    t.same(await tab.evaluate(`[...new Set([...document.querySelectorAll('.z')].map((each) => each.textContent))]`), [
      'Asia/Tokyo',
    ]);
    await tab.evaluate(`${button}.click()`);
    t.same(await tab.evaluate(times), before);
    await tab.send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Berlin' });
    await show(outage());
    t.equal(await tab.evaluate(button), null, 'nothing is asked of who is in the zone of the page');
  },

  'The policy lets nothing else run or look': async (t, tab, show) => {
    const page = outage();
    const forged = `<p id="forged" style="color:red">x</p><style>body{margin:7px}</style><script>document.title='owned'</script><img src="http://${shownAt}/x" onerror="document.title='owned'">`;
    await show({ ...page, html: page.html.replace('</main>', `${forged}</main>`) });
    t.equal(
      await tab.evaluate(`getComputedStyle(document.body).margin`),
      '0px',
      'only the style of the document counts',
    );
    t.notMatch(await tab.evaluate(`getComputedStyle(document.getElementById('forged')).color`), 'rgb(255, 0, 0)');
    t.match(await tab.evaluate('document.title'), 'Shop');
    t.equal(
      await tab.evaluate(`document.querySelector('button').textContent.startsWith('Show times in')`),
      true,
      'the own script runs',
    );
  },

  'On paper all is open, dark on light': async (t, tab, show) => {
    for (const name of ['large', 'outage']) {
      await look(tab, 800, 'dark', 'print');
      await show(onlyPage(sample(name)));
      const hidden = `[...document.querySelectorAll('details:not([open]) li b')].filter((each) => !each.checkVisibility()).length`;
      t.equal(await tab.evaluate(hidden), 0, name);
      if (name === 'large')
        t.ok(Number(await tab.evaluate(`document.querySelectorAll('details:not([open]) li b').length`)) > 30);
      t.equal(await tab.evaluate('getComputedStyle(document.body).color'), 'rgb(20, 24, 31)');
      t.equal(await tab.evaluate(`getComputedStyle(document.querySelector('footer .r')).display`), 'none');
    }
  },
};

t.test('In a browser', (t) =>
  inBrowser(
    t,
    Object.fromEntries(
      Object.entries(stories).map(([name, story]) => [
        name,
        (test, tab, show) => story(test, tab, (each) => show(answerOf(each))),
      ]),
    ),
  ),
);

const outage = (): Rendered => onlyPage(sample('outage'));

function onlyPage(view: PageView): Rendered {
  const [page] = documentsOf('page', view, 'en');
  if (page === undefined) throw new Error('A view has a page.');
  return page;
}

async function press(tab: Tab, key: 'Tab' | 'Enter'): Promise<void> {
  const code = {
    key,
    code: key,
    windowsVirtualKeyCode: key === 'Tab' ? 9 : 13,
    ...(key === 'Enter' && { text: '\r' }),
  };
  await tab.send('Input.dispatchKeyEvent', { type: 'keyDown', ...code });
  await tab.send('Input.dispatchKeyEvent', { type: 'keyUp', ...code });
}
