import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findProgram, isProgram } from '@parallax/settings/programs';

/** What Chromium and its kin are called on Linux. */
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
/** The account that a browser runs under: numbers of a user and a group. */
export type BrowserAccount = { readonly uid: number; readonly gid: number };

/** A browser never runs as root, whose browsers have no sandbox. */
const nobody: BrowserAccount = { uid: 65534, gid: 65534 };
const maxMessage = 32 * 1024 * 1024;

/** The path of a browser that is installed on this machine; undefined when there is none. */
export function findBrowser(folders?: readonly string[]): string | undefined {
  return names.map((name) => findProgram(name, folders)).find((path) => path !== undefined);
}

export type DevToolsEvent = {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly sessionId: string | undefined;
};

/** A running browser, spoken to by the DevTools protocol over a pipe: it opens no port. */
export type Browser = {
  /** Rejects when the browser refuses or ends. */
  readonly send: (method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>>;
  /** Called for each event; set before the first command. */
  onEvent: (event: DevToolsEvent) => void;
  readonly hasEnded: () => boolean;
  /** Resolves when its process has ended. */
  readonly gone: Promise<void>;
  /** Ends its whole process group at once; what waits for an answer rejects. */
  readonly kill: () => void;
  /** The same, and waits until the process and its files are gone. */
  readonly close: () => Promise<void>;
};

export type BrowserStart = {
  readonly path: string;
  /** Port on loopback of its only way out. */
  readonly proxyPort: number;
  /** Another account than that of this process, which only root can give; absent: nobody for root, else the own one. */
  readonly account?: BrowserAccount | undefined;
  /** Given what the browser prints, which is thrown away otherwise. */
  readonly onPrinted?: (text: string) => void;
};

/** Starts a browser with a profile of its own in a temporary folder, whose only way out is the proxy. Never as root, never without its sandbox. */
export async function startBrowser({ path, proxyPort, account, onPrinted }: BrowserStart): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'parallax-browser-'));
  const other = process.getuid?.() === 0 ? (account ?? nobody) : account;
  try {
    if (other !== undefined) await chown(profile, other.uid, other.gid);
    const child = spawn(path, [...flags(proxyPort), `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', onPrinted === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
      cwd: profile,
      env: { HOME: profile, TMPDIR: profile, PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
      ...other,
    });
    if (onPrinted !== undefined) child.stderr?.setEncoding('utf8').on('data', onPrinted);
    return connectTo(child, profile);
  } catch (error) {
    await rm(profile, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

/** Whether a browser starts here, sandbox included, and which version it is; else why not. Takes about a second, at most `timeoutMs`. */
export async function tryBrowser(
  start: Pick<BrowserStart, 'path' | 'account'>,
  timeoutMs = 10_000,
): Promise<{ readonly ok: true; readonly version: string } | { readonly ok: false; readonly reason: string }> {
  if (!isProgram(start.path)) return { ok: false, reason: 'there is no such file, or it may not be executed' };
  let printed = '';
  let browser: Browser | undefined;
  let timer: NodeJS.Timeout | undefined;
  const kill = () => browser?.kill();
  try {
    // Nobody listens at the port of discard: a browser that is only tried reaches nothing.
    browser = await startBrowser({
      ...start,
      proxyPort: 9,
      onPrinted: (text) => {
        printed = `${printed}${text}`.slice(0, 4096);
      },
    });
    timer = setTimeout(kill, timeoutMs);
    const { product } = await browser.send('Browser.getVersion');
    return { ok: true, version: typeof product === 'string' ? product.slice(0, 100) : 'unknown version' };
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      return { ok: false, reason: `it cannot be started (${String(error.code)})` };
    return { ok: false, reason: reasonIn(printed) };
  } finally {
    clearTimeout(timer);
    await browser?.close();
  }
}

/** The line in which Chromium says why it ends; it stamps its lines with `[process:time:level:place]`. */
function reasonIn(printed: string): string {
  const lines = printed.split('\n').map((line) => line.replace(/^\[[^\]]*\]\s*/, '').trim());
  const line = lines.find((each) => /sandbox/i.test(each)) ?? lines.find((each) => each !== '');
  return line === undefined ? 'it ended without a word' : `it says "${line.slice(0, 200)}"`;
}

function flags(proxyPort: number): readonly string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    // Loopback would go past the proxy.
    '--proxy-bypass-list=<-loopback>',
    // No question to name servers from here: the proxy asks.
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    // Without the last three the browser would try port 443 first for a target that is written with http://.
    '--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate,AsyncDns,NetworkTimeServiceQuerying,HttpsUpgrades,HttpsFirstBalancedMode,HttpsFirstBalancedModeAutoEnable',
    '--metrics-recording-only',
    '--mute-audio',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--password-store=basic',
    '--use-mock-keychain',
  ];
}

function connectTo(child: ChildProcess, profile: string): Browser {
  const waiting = new Map<
    number,
    { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }
  >();
  let last = 0;
  let ended = false;
  const gone = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      for (const each of waiting.values()) each.reject(new Error('The browser has ended.'));
      waiting.clear();
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  input.on('error', () => undefined);
  output.on('error', () => undefined);

  const browser: Browser = {
    onEvent: () => undefined,
    send: (method, params = {}, sessionId) => {
      if (ended) return Promise.reject(new Error('The browser has ended.'));
      last += 1;
      const id = last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
      });
    },
    hasEnded: () => ended,
    gone,
    kill: () => {
      if (child.pid === undefined || ended) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    },
    close: async () => {
      browser.kill();
      await gone;
      input.destroy();
      output.destroy();
      // Its helpers end a moment after it and may still write.
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }).catch(() => undefined);
    },
  };

  let pieces: Buffer[] = [];
  let length = 0;
  let isStrange = false;
  output.on('data', (piece: Buffer) => {
    let from = 0;
    for (let end = piece.indexOf(0); end !== -1; end = piece.indexOf(0, from)) {
      const text = Buffer.concat([...pieces, piece.subarray(from, end)]).toString('utf8');
      pieces = [];
      length = 0;
      from = end + 1;
      try {
        if (!isStrange) take(text);
      } catch {
        // What does not speak as a browser does is none, and nothing else that it says counts.
        isStrange = true;
        browser.kill();
      }
    }
    pieces.push(piece.subarray(from));
    length += piece.length - from;
    if (length > maxMessage) browser.kill();
  });

  function take(text: string): void {
    const message = JSON.parse(text) as {
      id?: number;
      method?: string;
      params?: Record<string, unknown>;
      sessionId?: string;
      result?: Record<string, unknown>;
      error?: { message?: string };
    };
    if (message.id === undefined) {
      browser.onEvent({ method: message.method ?? '', params: message.params ?? {}, sessionId: message.sessionId });
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) asked?.resolve(message.result ?? {});
    else asked?.reject(new Error(`The browser refused (${String(message.error.message).slice(0, 200)}).`));
  }
  return browser;
}
