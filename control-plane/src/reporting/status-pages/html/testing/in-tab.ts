import { needs } from '@parallax/testkit/needs';
import axe from 'axe-core';
import type { Test } from 'tap';
import { z } from 'zod';
import { type Answer, type Tab, findBrowser, openTab } from '../../formats/testing/browser.ts';

/** Where a document is shown. */
export const shownAt = 'status.example';
/** Every rule of WCAG 2.2 AA and below, and what its makers call good practice. */
export const accessRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export type Story = (t: Test, tab: Tab, show: (answer: Answer) => Promise<void>) => Promise<void>;

/** Opens one tab for all tests of a file; it is given one document at a time, with its policy. */
export async function inBrowser(t: Test, stories: Readonly<Record<string, Story>>): Promise<void> {
  const program = findBrowser();
  if (program === undefined) return void needs(t, 'chromium');
  let shown: Answer | null = null;
  const tab = await openTab(program, () => shown);
  const show = async (answer: Answer): Promise<void> => {
    shown = answer;
    await tab.open(`http://${shownAt}/`);
  };
  try {
    for (const [name, story] of Object.entries(stories)) {
      await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
      await tab.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' });
      await look(tab, 1280, 'light');
      await t.test(name, (t) => story(t, tab, show));
    }
  } finally {
    await tab.close();
  }
}

/** A document as it is served. */
export function answerWith(html: string, policy: string): Answer {
  const headers = { 'content-security-policy': policy, 'x-content-type-options': 'nosniff' };
  return { contentType: 'text/html; charset=utf-8', body: html, headers };
}

export async function look(tab: Tab, width: number, scheme: 'light' | 'dark', media = ''): Promise<void> {
  const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 };
  await tab.send('Emulation.setDeviceMetricsOverride', metrics);
  await tab.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
}

const findings = z.array(z.object({ id: z.string(), targets: z.array(z.string()) }));

/** What axe finds wrong with what is shown, with three places of each. */
export async function violations(tab: Tab, rules: readonly string[] = accessRules): Promise<readonly unknown[]> {
  await tab.evaluate(axe.source);
  const found =
    await tab.evaluate(`axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) =>
      ({ id, targets: nodes.slice(0, 3).map(({ target, failureSummary }) => target.join(' ') + ': ' + failureSummary) })))`);
  return findings.parse(found);
}

/** Whether what is shown goes beyond the side of the window. */
export async function isTooWide(tab: Tab, width: number): Promise<boolean> {
  return Number(await tab.evaluate('document.documentElement.scrollWidth')) > width;
}
