import type { Browser, DevToolsEvent } from './browser.ts';

/** What one load of a page came to. Times in milliseconds from its navigation; absent where the page had no such moment. */
export type PageLoad = {
  /** The last address of the document. */
  url: string;
  status: number | undefined;
  requests: number;
  failedRequests: number;
  /** Bytes over the wire: headers and bodies as they came. */
  weightBytes: number;
  ttfbMs: number | undefined;
  domReadyMs: number | undefined;
  loadMs: number | undefined;
  lcpMs: number | undefined;
  /** The browser's name of what went wrong with the document, for example net::ERR_CERT_DATE_INVALID. */
  error: string | undefined;
};

export type LoadOrder = {
  readonly url: string;
  readonly userAgent: string;
  readonly viewport: 'desktop' | 'mobile';
  /** No request for this long after the load event means that the page is at rest. */
  readonly quietMs: number;
  /** How long after the load event rest is waited for. */
  readonly restMs: number;
};

const sizes = {
  desktop: { width: 1350, height: 940, deviceScaleFactor: 1, mobile: false },
  mobile: { width: 412, height: 823, deviceScaleFactor: 1.75, mobile: true },
} as const;

/** Asked in a world of its own, whose functions the page cannot replace. */
const lcpScript = `new Promise((resolve) => {
  let last;
  new PerformanceObserver((list) => { for (const each of list.getEntries()) last = each.startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  setTimeout(() => resolve(last ?? -1), 50);
})`;

/** Loads a page in a new tab and fills `seen` while it does, so that a load that is cut short can be shown. Rejects when the browser ends. */
export async function loadPage(browser: Browser, order: LoadOrder, seen: PageLoad): Promise<void> {
  const watched = watch(browser, seen);
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = (await browser.send('Target.attachToTarget', { targetId, flatten: true })) as {
    sessionId: string;
  };
  const tell = (method: string, params: object = {}) => browser.send(method, params, sessionId);
  const { userAgent } = await browser.send('Browser.getVersion');
  await Promise.all([
    browser.send('Browser.setDownloadBehavior', { behavior: 'deny' }),
    tell('Page.enable'),
    tell('Network.enable'),
    tell('Network.setCacheDisabled', { cacheDisabled: true }),
    tell('Network.setUserAgentOverride', { userAgent: `${String(userAgent)} ${order.userAgent}` }),
    tell('Emulation.setDeviceMetricsOverride', sizes[order.viewport]),
    // Frames of other origins and workers have processes and sessions of their own.
    tell('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
  ]);
  watched.begin(sessionId);
  const navigated = await tell('Page.navigate', { url: order.url });
  if (typeof navigated['errorText'] === 'string') {
    seen.error = navigated['errorText'];
    return;
  }
  await Promise.race([watched.loaded, browser.gone]);
  await watched.atRest(order.quietMs, order.restMs);
  const { frameTree } = (await tell('Page.getFrameTree')) as { frameTree: { frame: { id: string } } };
  const { executionContextId: contextId } = await tell('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const evaluated = await tell('Runtime.evaluate', {
    expression: lcpScript,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  const lcp = (evaluated['result'] as { value?: unknown } | undefined)?.value;
  if (typeof lcp === 'number' && lcp >= 0) seen.lcpMs = lcp;
}

/** Counts what the network events of all sessions say; times come from the session of the page itself. */
function watch(browser: Browser, seen: PageLoad) {
  const open = new Set<string>();
  let page: string | undefined;
  let documentId: string | undefined;
  let startedAt: number | undefined;
  let isErrorPage = false;
  let lastActivity = performance.now();
  let loaded: () => void;
  const whenLoaded = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  const sinceStart = (timestamp: unknown) =>
    startedAt === undefined || typeof timestamp !== 'number' ? undefined : Math.max(0, (timestamp - startedAt) * 1000);

  function hear({ method, params, sessionId }: DevToolsEvent): void {
    const id = `${sessionId} ${String(params['requestId'])}`;
    switch (method) {
      case 'Target.attachedToTarget': {
        const child = params['sessionId'] as string;
        if (sessionId === undefined) return;
        for (const command of ['Network.enable', 'Runtime.runIfWaitingForDebugger'])
          browser.send(command, {}, child).catch(() => undefined);
        return;
      }
      case 'Network.requestWillBeSent': {
        const { request, type } = params as { request: { url: string }; type?: string };
        if (!/^https?:/.test(request.url)) return;
        lastActivity = performance.now();
        seen.requests += 1;
        open.add(id);
        if (sessionId !== page || type !== 'Document' || (documentId !== undefined && documentId !== id)) return;
        documentId = id;
        startedAt ??= params['timestamp'] as number;
        seen.url = request.url;
        return;
      }
      case 'Network.responseReceived': {
        if (id !== documentId) return;
        const { response } = params as {
          response: {
            status: number;
            timing?: { requestTime: number; receiveHeadersStart?: number; receiveHeadersEnd: number };
          };
        };
        seen.status = response.status;
        const { timing } = response;
        if (timing !== undefined)
          seen.ttfbMs = sinceStart(
            timing.requestTime + (timing.receiveHeadersStart ?? timing.receiveHeadersEnd) / 1000,
          );
        return;
      }
      case 'Network.loadingFinished':
        lastActivity = performance.now();
        seen.weightBytes += Number(params['encodedDataLength'] ?? 0);
        open.delete(id);
        return;
      case 'Network.loadingFailed':
        lastActivity = performance.now();
        seen.failedRequests += 1;
        open.delete(id);
        if (id === documentId) seen.error ??= String(params['errorText']);
        return;
      case 'Page.frameNavigated': {
        const { frame } = params as { frame: { parentId?: string; unreachableUrl?: string } };
        // In place of a document that did not come the browser loads a page of its own, and may tell of that before it says that it failed.
        if (sessionId === page && frame.parentId === undefined) isErrorPage = frame.unreachableUrl !== undefined;
        return;
      }
      case 'Page.domContentEventFired':
        if (sessionId === page && !isErrorPage) seen.domReadyMs ??= sinceStart(params['timestamp']);
        return;
      case 'Page.loadEventFired':
        if (sessionId !== page || startedAt === undefined) return;
        if (!isErrorPage) seen.loadMs ??= sinceStart(params['timestamp']);
        loaded();
        return;
      // A dialog of the page would stop everything.
      case 'Page.javascriptDialogOpening':
        browser.send('Page.handleJavaScriptDialog', { accept: false }, sessionId).catch(() => undefined);
    }
  }
  browser.onEvent = hear;

  async function atRest(quietMs: number, restMs: number): Promise<void> {
    const end = performance.now() + restMs;
    while (
      !browser.hasEnded() &&
      performance.now() < end &&
      (open.size > 0 || performance.now() - lastActivity < quietMs)
    )
      await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return {
    begin: (sessionId: string) => {
      page = sessionId;
    },
    loaded: whenLoaded,
    atRest,
  };
}
