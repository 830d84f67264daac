import { createHmac, randomBytes } from 'node:crypto';
import { pageAccessLimits, Problem } from '@parallax/api-contract';
import { createPasswordHasher } from '../../../identity/auth/index.ts';
import { addressMatcher, clientNetwork } from '../../../platform/http/client-address.ts';
import type { PreparedClient } from '../../../platform/http/prepared/before-routes.ts';
import { tokenBuckets } from '../../../platform/http/prepared/token-buckets.ts';
import type { TokenBuckets } from '../../../platform/http/prepared/token-buckets.ts';
import { hasCookie } from './cookie.ts';
import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { PageAccess } from './page-access.ts';
import { shownPassword } from './shown-password.ts';

/** What came of a password. `limited`: too many were wrong; `busy`: too many are being compared. */
export type Checked =
  | { readonly kind: 'open' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'limited'; readonly waitMs: number }
  | { readonly kind: 'busy' };

type Options = {
  readonly now: () => number;
  /** Wrong passwords a minute, for each client and page. */
  readonly failuresPerMinute?: () => number;
  readonly verify?: (hash: string | null, password: string) => Promise<boolean>;
};

/** A password that was right is not compared anew for so long: programs send it with each request. */
const rememberedMs = 600_000;
const mostRemembered = 10_000;
const mostMatchers = 1_000;
const mostClients = 20_000;
const usualFailuresPerMinute = 5;

/**
 * Lets readers of private pages in. What decides at each request is in memory; a password is compared once and then remembered as a keyed hash.
 * Those that are compared have a queue of their own, so that a flood of wrong ones keeps nobody from signing in.
 */
export class PageGuard {
  readonly #now: () => number;
  readonly #verify: (hash: string | null, password: string) => Promise<boolean>;
  readonly #failuresPerMinute: () => number;
  #buckets: TokenBuckets | undefined;
  readonly #memoryKey = randomBytes(32);
  /** Until when passwords are known to be right, by their hash. */
  readonly #right = new Map<string, number>();
  readonly #comparing = new Map<string, Promise<boolean>>();
  readonly #matchers = new Map<string, (address: string) => boolean>();

  constructor({ now, failuresPerMinute = () => usualFailuresPerMinute, verify }: Options) {
    this.#now = now;
    this.#verify = verify ?? createPasswordHasher({ atOnce: 2, waiting: 32 }).verify;
    this.#failuresPerMinute = failuresPerMinute;
  }

  get #failures(): TokenBuckets {
    const most = this.#failuresPerMinute();
    this.#buckets ??= tokenBuckets({ perSecond: most / 60, burst: most, mostKeys: mostClients, now: this.#now });
    return this.#buckets;
  }

  /** Whether a client may read a page, as far as can be said without waiting. @param client absent: it shows nothing */
  judge(access: PageAccess | null, client: PreparedClient | undefined): Judgement {
    if (access === null) return 'open';
    if (client === undefined) return 'refused';
    const password = access.passwordHash === null ? undefined : shownPassword(client.header);
    return judge(access, {
      isFromAllowedAddress: this.#isAllowed(access, client),
      hasCookie: hasCookie(access, client.header('cookie'), this.#now()),
      password: password === undefined ? 'none' : this.#isRight(this.#hashOf(access, password)) ? 'right' : 'unchecked',
    });
  }

  /** Whether a client may read a page; compares the password that it sends. */
  async check(access: PageAccess | null, client: PreparedClient | undefined): Promise<Checked> {
    const judgement = this.judge(access, client);
    if (judgement === 'open') return { kind: 'open' };
    const password = judgement === 'check' && client !== undefined ? shownPassword(client.header) : undefined;
    if (access === null || client === undefined || password === undefined) return { kind: 'refused' };
    return this.compare(access, password, client.address());
  }

  /** Whether a password is that of a page. Only wrong ones are counted. @param address of the client */
  async compare(access: PageAccess, password: string, address: string): Promise<Checked> {
    const hash = this.#hashOf(access, password);
    if (this.#isRight(hash)) return { kind: 'open' };
    // Those who send the same password at once wait for one comparison.
    const under = this.#comparing.get(hash);
    if (under !== undefined) return (await under) ? { kind: 'open' } : { kind: 'refused' };
    const counted = `${access.pageId} ${clientNetwork(address)}`;
    const waitMs = this.#failures.take(counted);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    try {
      const isRight = await this.#compareOnce(access, password, hash);
      if (!isRight) return { kind: 'refused' };
    } catch (error) {
      this.#failures.giveBack(counted);
      if (error instanceof Problem && error.code === 'busy') return { kind: 'busy' };
      throw error;
    }
    this.#failures.giveBack(counted);
    this.#remember(hash);
    return { kind: 'open' };
  }

  async #compareOnce({ passwordHash }: PageAccess, password: string, hash: string): Promise<boolean> {
    if (password.length > pageAccessLimits.passwordMax) return false;
    const comparing = this.#verify(passwordHash, password).finally(() => this.#comparing.delete(hash));
    this.#comparing.set(hash, comparing);
    return comparing;
  }

  #isRight(hash: string): boolean {
    return (this.#right.get(hash) ?? 0) > this.#now();
  }

  #remember(hash: string): void {
    this.#right.delete(hash);
    if (this.#right.size >= mostRemembered) this.#right.delete(this.#right.keys().next().value ?? '');
    this.#right.set(hash, this.#now() + rememberedMs);
  }

  /** Names a password of a page in its present version, without holding it. */
  #hashOf({ pageId, version }: PageAccess, password: string): string {
    return createHmac('sha256', this.#memoryKey).update(`${pageId} ${version} ${password}`).digest('base64');
  }

  #isAllowed({ addresses }: PageAccess, client: PreparedClient): boolean {
    if (addresses.length === 0) return false;
    const key = addresses.join(' ');
    let matches = this.#matchers.get(key);
    if (matches === undefined) {
      matches = addressMatcher(addresses);
      if (this.#matchers.size >= mostMatchers) this.#matchers.clear();
      this.#matchers.set(key, matches);
    }
    return matches(client.address());
  }
}
