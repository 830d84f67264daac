import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { findBrowser, startBrowser } from '../../../../../../packages/checks/src/pagespeed/browser.ts';
import type { PageDocument } from '../../view/page-document.ts';
import type { PageView } from '../../view/page-view.ts';
import { nowMs } from './samples.ts';

export { findBrowser };

export type Answer = { readonly contentType: string; readonly body: string; readonly headers?: Record<string, string> };

/** A tab of a browser. Whatever it asks for, over HTTP, is answered by `answer`: there is no other net. */
export type Tab = {
  /** Opens an address and waits until all of it is loaded. */
  readonly open: (url: string) => Promise<void>;
  /** The value of an expression in the page; waits where it is a promise. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Waits, for at most ten seconds, until an expression is true. */
  readonly until: (expression: string) => Promise<void>;
  /** The texts of frames of other sites, which are out of reach for `evaluate`. */
  readonly frames: () => Promise<string[]>;
  /** A command of the DevTools protocol. */
  readonly send: (method: string, params: object) => Promise<Record<string, unknown>>;
  readonly close: () => Promise<void>;
};

export async function openTab(path: string, answer: (url: URL) => Answer | null): Promise<Tab> {
  // A browser asks its proxy for whole addresses, so that one server is every host.
  const server = createServer((request, response) => {
    const given = answer(new URL(request.url ?? ''));
    if (given === null) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': given.contentType, ...given.headers }).end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await startBrowser({ path, proxyPort: (server.address() as AddressInfo).port });
  const loaded = new Set<() => void>();
  browser.onEvent = ({ method }) => {
    if (method === 'Page.loadEventFired') for (const resolve of loaded) resolve();
  };
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const attached = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const sessionId = z.string().parse(attached['sessionId']);
  await browser.send('Page.enable', {}, sessionId);
  const evaluate = async (expression: string): Promise<unknown> => {
    const call = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await browser.send('Runtime.evaluate', call, sessionId);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return z.object({ value: z.unknown().optional() }).parse(result).value;
  };
  return {
    evaluate,
    send: (method, params) => browser.send(method, params, sessionId),
    open: async (url) => {
      const isLoaded = new Promise<void>((resolve) => loaded.add(resolve));
      await browser.send('Page.navigate', { url }, sessionId);
      await isLoaded;
      loaded.clear();
    },
    until: async (expression) => {
      const untilMs = Date.now() + 10_000;
      while ((await evaluate(expression)) !== true) {
        if (Date.now() > untilMs) throw new Error(`It did not become true: ${expression}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    frames: async () => {
      const { targetInfos } = await browser.send('Target.getTargets');
      const targets = z.array(z.object({ targetId: z.string(), type: z.string() })).parse(targetInfos);
      const texts: string[] = [];
      for (const { targetId } of targets.filter(({ type }) => type === 'iframe')) {
        const frame = await browser.send('Target.attachToTarget', { targetId, flatten: true });
        const call = { expression: 'document.body.innerText', returnByValue: true };
        const { result } = await browser.send('Runtime.evaluate', call, z.string().parse(frame['sessionId']));
        texts.push(z.object({ value: z.string() }).parse(result).value);
      }
      return texts;
    },
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a server that serves these documents of a page answers below a path; null: there is nothing. */
export function answerOf(documents: readonly PageDocument[], view: PageView, path: string): Answer | null {
  const found = documents.find((each) => each.path === path);
  const body = found?.render(view, { locale: view.locale, nowMs, id: '' }) ?? null;
  if (found === undefined || body === null) return null;
  const policy = typeof found.policy === 'function' ? found.policy(view) : found.policy;
  return {
    contentType: found.contentType,
    body,
    headers: {
      'content-security-policy': policy ?? "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      ...(found.isShared
        ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
        : { 'cross-origin-resource-policy': 'same-origin' }),
    },
  };
}
