import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { CheckContext, CheckType, Target } from './check.ts';
import { endingAfter } from './net/earlier.ts';
import { type Failure, failed, probeFault, timedOut } from './net/failure.ts';
import { parseHost } from './net/host.ts';
import type { CheckOutcome, Evidence, Phases } from './outcome.ts';
import { type Browser, startBrowser } from './pagespeed/browser.ts';
import { logIn } from './pagespeed/login.ts';
import { loadPage, type PageLoad } from './pagespeed/load.ts';
import type { GuardedProxy } from './pagespeed/proxy.ts';
import { failureOfError } from './pagespeed/verdict.ts';

const maxUrlLength = 2048;
/** Browsers at once in one process; each needs a few hundred megabytes. */
const maxBrowsers = 2;
/** What of the time is kept for ending the browser, milliseconds. */
const endingMs = 800;
let running = 0;

const limit = (most: number) => z.int().min(1).max(most).optional();

/** Settings of `pagespeed`: the most that each figure may come to; what is absent is only measured. */
export const pagespeedSettings = lazily(() =>
  z.strictObject({
    /** Bytes of all answers, as transferred. */
    max_weight_bytes: limit(1_000_000_000),
    /** Requests of the page, all of its parts included. */
    max_requests: limit(10_000),
    /** Time to the first byte of the document, milliseconds. */
    max_ttfb_ms: limit(60_000),
    /** Time to the largest contentful paint, milliseconds. */
    max_lcp_ms: limit(60_000),
    /** Time to the load event, milliseconds. */
    max_load_ms: limit(60_000),
    /** What a figure above its limit does. */
    over_budget: z.enum(['fail', 'warn']).default('fail'),
    /** The size of the window that the page is shown in. */
    viewport: z.enum(['desktop', 'mobile']).default('desktop'),
    /** No request for this long after the load event means that the page is at rest. */
    quiet_ms: z.int().min(0).max(5000).default(500),
  }),
);
export type PagespeedSettings = z.infer<ReturnType<typeof pagespeedSettings>>;

/** A page in a headless browser. The browser reaches nothing but through a proxy that applies the address policy. */
export const pagespeed = {
  type: 'pagespeed',
  summary: 'A page in a browser: weight, requests, first byte, largest paint',
  reference: {
    targets: ['https://www.example.com/'],
    settings: { max_lcp_ms: 2500 },
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: {
      weight_bytes: 'Bytes of all answers, as transferred.',
      requests: 'Requests of the page.',
      failed_requests: 'Those that failed.',
      denied_connections: 'Connections that the address policy did not allow.',
      ttfb_ms: 'First byte of the document, milliseconds since the start of the navigation.',
      dom_ready_ms: 'The same for its DOMContentLoaded event.',
      load_ms: 'The same for its load event.',
      lcp_ms: 'The same for its largest contentful paint.',
    },
  },
  settings: pagespeedSettings,
  secretFields: [],
  requires: ['browser'],
  cheap: false,
  validateTarget: (target) => {
    const url = readUrl(target);
    return typeof url === 'string' ? url : undefined;
  },
  run,
} satisfies CheckType<'pagespeed', ReturnType<typeof pagespeedSettings>>;

function readUrl(target: Target): URL | string {
  const text = target.url.trim();
  if (text.length > maxUrlLength) return `A URL has at most ${maxUrlLength} characters.`;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    return `"${text.slice(0, 100)}" is not a web address such as https://example.com/.`;
  if (url.username !== '' || url.password !== '') return 'A user name or password does not belong in the URL.';
  const host = parseHost(url.hostname);
  return host.kind === 'invalid' ? host.reason : url;
}

async function run(target: Target, settings: PagespeedSettings, context: CheckContext): Promise<CheckOutcome> {
  const url = readUrl(target);
  if (typeof url === 'string') throw new Error(`The target was not validated: ${url}`);
  const start = context.clock();
  const sinceStart = () => Math.round((context.clock() - start) * 1000);
  const only = (failure: Failure): CheckOutcome => ({ ...failure, total: sinceStart(), phases: {} });
  const path = context.browser;
  if (path === undefined) return only(noBrowser);
  if (running >= maxBrowsers) {
    const busy = probeFault('overload', `This probe already runs ${maxBrowsers} browsers.`);
    return { ...only(busy), outcome: 'skipped' };
  }
  running += 1;
  const seen: PageLoad = {
    url: url.href,
    status: undefined,
    requests: 0,
    failedRequests: 0,
    weightBytes: 0,
    ttfbMs: undefined,
    domReadyMs: undefined,
    loadMs: undefined,
    lcpMs: undefined,
    error: undefined,
  };
  const earlier = endingAfter(context, Math.max(context.timeoutMs * 0.7, context.timeoutMs - endingMs));
  let proxy: GuardedProxy | undefined;
  let browser: Browser | undefined;
  const kill = () => browser?.kill();
  try {
    // Most probes never start a browser, and Node's HTTP server takes two megabytes in each thread.
    const { openProxy } = await import('./pagespeed/proxy.ts');
    proxy = await openProxy(earlier.context);
    browser = await startBrowser({ path, proxyPort: proxy.login.port, account: context.browserAccount });
    if (earlier.context.signal.aborted) browser.kill();
    earlier.context.signal.addEventListener('abort', kill);
    await logIn(browser, proxy.login);
    context.trace?.('browser', `started (${Math.round(sinceStart() / 1000)} ms)`);
    const broken = await loadPage(browser, orderOf(url, settings, context), seen).then(
      () => false,
      () => true,
    );
    const failure = judge(seen, settings, proxy, broken, earlier.context.signal.aborted);
    return outcomeOf(seen, failure, proxy, sinceStart());
  } catch {
    return only(
      probeFault('probe_capability', 'The browser of this probe did not start; its log and "doctor" may say why.'),
    );
  } finally {
    earlier.release();
    earlier.context.signal.removeEventListener('abort', kill);
    proxy?.close();
    // Killed it is already; its end and its files are waited for as long as there is time.
    if (browser !== undefined) await Promise.race([browser.close(), aborted(context)]);
    running -= 1;
  }
}

function aborted({ signal }: CheckContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', resolve);
  });
}

const noBrowser = probeFault(
  'probe_capability',
  'This probe has no browser; install Chromium on it and switch browser checks on, or choose a probe that has one.',
);

function orderOf(url: URL, settings: PagespeedSettings, context: CheckContext) {
  return {
    url: url.href,
    userAgent: context.userAgent,
    viewport: settings.viewport,
    quietMs: settings.quiet_ms,
    restMs: Math.max(settings.quiet_ms, Math.min(5000, context.timeoutMs / 4)),
  };
}

/** What is wrong, gravest first: the document did not come, then its status, then a figure above its limit. */
function judge(
  seen: PageLoad,
  settings: PagespeedSettings,
  proxy: GuardedProxy,
  broken: boolean,
  late: boolean,
): Failure | undefined {
  const { host, port } = placeOf(seen.url);
  const unreached = proxy.failureOf(host, port);
  if (seen.status === undefined && unreached !== undefined) return unreached;
  if (seen.status !== undefined && seen.status >= 400)
    return failed('http_status', `The server answered ${seen.status} for the page.`);
  if (seen.error !== undefined && seen.loadMs === undefined) return unreached ?? failureOfError(seen.error);
  if (broken && late)
    return timedOut('pagespeed_not_loaded', `The page did not finish loading in time (${figures(seen)}).`);
  if (broken) return probeFault('probe_capability', 'The browser of this probe ended while it loaded the page.');
  const over = [
    exceeds('weight', seen.weightBytes, settings.max_weight_bytes, 'bytes'),
    exceeds('number of requests', seen.requests, settings.max_requests, ''),
    exceeds('time to the first byte', seen.ttfbMs, settings.max_ttfb_ms, 'ms'),
    exceeds('largest contentful paint', seen.lcpMs, settings.max_lcp_ms, 'ms'),
    exceeds('load time', seen.loadMs, settings.max_load_ms, 'ms'),
  ].filter((each) => each !== undefined);
  if (over.length === 0) return undefined;
  const failure = failed('pagespeed_budget', `The ${over.join(', the ')}.`);
  return settings.over_budget === 'warn' ? { ...failure, outcome: 'warn' } : failure;
}

function exceeds(what: string, value: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (value === undefined || most === undefined || value <= most) return undefined;
  return `${what} is ${Math.round(value)} ${unit}`.trimEnd() + ` (at most ${most})`;
}

function figures(seen: PageLoad): string {
  return `${seen.requests} requests, ${seen.weightBytes} bytes`;
}

function placeOf(url: string): { readonly host: string; readonly port: number } {
  const parsed = new URL(url);
  return { host: parsed.hostname, port: Number(parsed.port || (parsed.protocol === 'https:' ? 443 : 80)) };
}

/** The load time stands for the whole where the page was loaded: how long a browser takes to start says nothing about the target. */
function outcomeOf(seen: PageLoad, failure: Failure | undefined, proxy: GuardedProxy, elapsedUs: number): CheckOutcome {
  const { host, port } = placeOf(seen.url);
  const times = proxy.timesOf(host, port);
  const us = (ms: number) => Math.round(ms * 1000);
  const phases: Phases = {
    ...(times && { dns: times.dnsUs, connect: times.connectUs }),
    ...(seen.ttfbMs !== undefined && { first_byte: us(seen.ttfbMs) }),
    ...(seen.ttfbMs !== undefined &&
      seen.loadMs !== undefined && { transfer: us(Math.max(0, seen.loadMs - seen.ttfbMs)) }),
  };
  const total = seen.loadMs === undefined ? elapsedUs : us(seen.loadMs);
  const rounded = (name: string, value: number | undefined) =>
    value === undefined ? {} : { [name]: Math.round(value) };
  const evidence: Evidence = {
    final_url: seen.url.slice(0, 2048),
    ...(seen.status !== undefined && { status: seen.status }),
    details: {
      weight_bytes: seen.weightBytes,
      requests: seen.requests,
      failed_requests: seen.failedRequests,
      denied_connections: proxy.denied(),
      ...rounded('ttfb_ms', seen.ttfbMs),
      ...rounded('dom_ready_ms', seen.domReadyMs),
      ...rounded('load_ms', seen.loadMs),
      ...rounded('lcp_ms', seen.lcpMs),
    },
  };
  return { outcome: 'ok', total, phases, ...failure, evidence };
}
