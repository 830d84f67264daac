import { Resolver as CaresResolver } from 'node:dns';
import type { StopSignal } from '../stop.ts';

/** What name servers said about one name and family. `none`: the name exists without such an address. */
export type NameServerReply =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failure'; readonly reason: 'nxdomain' | 'servfail' | 'refused' | 'timeout' | 'unreachable' };

export type NameServers = {
  /** Asks with a hard limit; an abort counts as a timeout. */
  readonly query: (
    name: string,
    family: 4 | 6,
    limits: { readonly signal: StopSignal; readonly timeoutMs: number },
  ) => Promise<NameServerReply>;
};

/** One c-ares channel with the number of questions that somebody still waits for. */
type Channel = { readonly cares: CaresResolver; readonly bornAt: number; waiting: number; abandoned: boolean };

/** After this time a new channel is made, so that a change of resolv.conf is seen. */
const channelLifeMs = 60_000;
/** One try of one server; the hard limit of a question cuts shorter. */
const defaultTryTimeoutMs = 1_500;
const tries = 3;

/**
 * A pool of c-ares channels, in practice one. c-ares cannot cancel a single question, only a whole channel; a channel with an
 * abandoned question takes no new ones and is cancelled when the last of its others has ended, so nothing stays open for long.
 */
export function createNameServers(options: {
  readonly clock: () => number;
  readonly servers?: readonly string[] | undefined;
  readonly tryTimeoutMs?: number;
}): NameServers {
  let current: Channel | undefined;

  function take(): Channel {
    const now = options.clock();
    if (current === undefined || current.abandoned || now - current.bornAt > channelLifeMs) {
      const cares = new CaresResolver({ timeout: options.tryTimeoutMs ?? defaultTryTimeoutMs, tries });
      if (options.servers !== undefined) cares.setServers(options.servers);
      current = { cares, bornAt: now, waiting: 0, abandoned: false };
    }
    return current;
  }

  function query(
    name: string,
    family: 4 | 6,
    limits: { signal: StopSignal; timeoutMs: number },
  ): Promise<NameServerReply> {
    if (limits.signal.aborted || limits.timeoutMs <= 0) return Promise.resolve({ kind: 'failure', reason: 'timeout' });
    const channel = take();
    channel.waiting += 1;
    return new Promise((resolve) => {
      let open = true;
      const end = (reply: NameServerReply) => {
        if (!open) return;
        open = false;
        clearTimeout(timer);
        limits.signal.removeEventListener('abort', giveUp);
        channel.waiting -= 1;
        if (channel.abandoned && channel.waiting === 0) channel.cares.cancel();
        resolve(reply);
      };
      const giveUp = () => {
        if (!open) return;
        channel.abandoned = true;
        end({ kind: 'failure', reason: 'timeout' });
      };
      const timer = setTimeout(giveUp, limits.timeoutMs);
      limits.signal.addEventListener('abort', giveUp);
      const done = (error: NodeJS.ErrnoException | null, addresses: string[]) =>
        end(error === null ? { kind: 'addresses', addresses } : replyOf(error.code));
      if (family === 4) channel.cares.resolve4(name, done);
      else channel.cares.resolve6(name, done);
    });
  }

  return { query };
}

/** The error codes of c-ares, as Node gives them. */
function replyOf(code: string | undefined): NameServerReply {
  switch (code) {
    case 'ENODATA':
      return { kind: 'none' };
    case 'ENOTFOUND':
    case 'EBADNAME':
      return { kind: 'failure', reason: 'nxdomain' };
    case 'EREFUSED':
      return { kind: 'failure', reason: 'refused' };
    case 'ECONNREFUSED':
      return { kind: 'failure', reason: 'unreachable' };
    case 'ETIMEOUT':
    case 'ECANCELLED':
      return { kind: 'failure', reason: 'timeout' };
    case undefined:
    default:
      return { kind: 'failure', reason: 'servfail' };
  }
}
