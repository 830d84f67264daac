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

type RequestSent = { readonly request: { readonly url: string }; readonly type?: string; readonly timestamp: number };

type ResponseReceived = {
  readonly response: {
    readonly status: number;
    readonly timing?: {
      readonly requestTime: number;
      readonly receiveHeadersStart?: number;
      readonly receiveHeadersEnd: number;
    };
  };
};

/** Asked in a world of its own, whose functions the page cannot replace. */
const lcpScript = `new Promise((resolve) => {
  let last;
  new PerformanceObserver((list) => { for (const each of list.getEntries()) last = each.startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  setTimeout(() => resolve(last ?? -1), 50);
})`;

/** Loads a page in a new tab and fills `seen` while it does, so that a load that is cut short can be shown. Rejects when the browser ends. */
export async function loadPage(browser: Browser, order: LoadOrder, seen: PageLoad): Promise<void> {
  const watched = new LoadWatch(browser, seen);
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
class LoadWatch {
  /** Its load event has fired. */
  readonly loaded: Promise<void>;
  readonly #browser: Browser;
  readonly #seen: PageLoad;
  readonly #open = new Set<string>();
  #markLoaded: () => void = () => {};
  #page: string | undefined;
  #documentId: string | undefined;
  #startedAt: number | undefined;
  #isErrorPage = false;
  #lastActivity = performance.now();

  constructor(browser: Browser, seen: PageLoad) {
    this.#browser = browser;
    this.#seen = seen;
    this.loaded = new Promise((resolve) => {
      this.#markLoaded = resolve;
    });
    browser.onEvent = (event) => this.#hear(event);
  }

  /** From here on this session is that of the page. */
  begin(sessionId: string): void {
    this.#page = sessionId;
  }

  async atRest(quietMs: number, restMs: number): Promise<void> {
    const end = performance.now() + restMs;
    while (
      !this.#browser.hasEnded() &&
      performance.now() < end &&
      (this.#open.size > 0 || performance.now() - this.#lastActivity < quietMs)
    )
      await new Promise((resolve) => setTimeout(resolve, 25));
  }

  #hear({ method, params, sessionId }: DevToolsEvent): void {
    const id = `${sessionId} ${String(params['requestId'])}`;
    const isOfPage = sessionId === this.#page;
    switch (method) {
      case 'Target.attachedToTarget':
        if (sessionId !== undefined) this.#letRun(params['sessionId'] as string);
        return;
      case 'Network.requestWillBeSent':
        this.#requested(id, params as RequestSent, isOfPage);
        return;
      case 'Network.responseReceived':
        if (id === this.#documentId) this.#answered(params as ResponseReceived);
        return;
      case 'Network.loadingFinished':
        this.#ended(id);
        this.#seen.weightBytes += Number(params['encodedDataLength'] ?? 0);
        return;
      case 'Network.loadingFailed':
        this.#ended(id);
        this.#seen.failedRequests += 1;
        if (id === this.#documentId) this.#seen.error ??= String(params['errorText']);
        return;
      case 'Page.frameNavigated': {
        const { frame } = params as { frame: { parentId?: string; unreachableUrl?: string } };
        // In place of a document that did not come the browser loads a page of its own, and may tell of that before it says that it failed.
        if (isOfPage && frame.parentId === undefined) this.#isErrorPage = frame.unreachableUrl !== undefined;
        return;
      }
      case 'Page.domContentEventFired':
        if (isOfPage && !this.#isErrorPage) this.#seen.domReadyMs ??= this.#sinceStart(params['timestamp']);
        return;
      case 'Page.loadEventFired':
        if (!isOfPage || this.#startedAt === undefined) return;
        if (!this.#isErrorPage) this.#seen.loadMs ??= this.#sinceStart(params['timestamp']);
        this.#markLoaded();
        return;
      // A dialog of the page would stop everything.
      case 'Page.javascriptDialogOpening':
        this.#browser.send('Page.handleJavaScriptDialog', { accept: false }, sessionId).catch(() => undefined);
    }
  }

  /** A frame or worker of the page has a session of its own, which waits until it is watched. */
  #letRun(sessionId: string): void {
    for (const command of ['Network.enable', 'Runtime.runIfWaitingForDebugger'])
      this.#browser.send(command, {}, sessionId).catch(() => undefined);
  }

  #requested(id: string, { request, type, timestamp }: RequestSent, isOfPage: boolean): void {
    if (!/^https?:/.test(request.url)) return;
    this.#lastActivity = performance.now();
    this.#seen.requests += 1;
    this.#open.add(id);
    if (!isOfPage || type !== 'Document' || (this.#documentId !== undefined && this.#documentId !== id)) return;
    this.#documentId = id;
    this.#startedAt ??= timestamp;
    this.#seen.url = request.url;
  }

  /** The document's answer has begun to come. */
  #answered({ response: { status, timing } }: ResponseReceived): void {
    this.#seen.status = status;
    if (timing === undefined) return;
    const headersMs = timing.receiveHeadersStart ?? timing.receiveHeadersEnd;
    this.#seen.ttfbMs = this.#sinceStart(timing.requestTime + headersMs / 1000);
  }

  #ended(id: string): void {
    this.#lastActivity = performance.now();
    this.#open.delete(id);
  }

  #sinceStart(timestamp: unknown): number | undefined {
    if (this.#startedAt === undefined || typeof timestamp !== 'number') return undefined;
    return Math.max(0, (timestamp - this.#startedAt) * 1000);
  }
}
