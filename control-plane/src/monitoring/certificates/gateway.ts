import { createAddressPolicy, createResolver, everyAddress, readChain } from '@parallax/checks';
import type { SentChain } from '@parallax/checks';
import type { Context } from '../../context.ts';
import { centralRanges } from '../assignments/index.ts';
import type { InstallationReach, WorkspaceReach } from '../assignments/index.ts';

/** What is looked at. Settings hold the opened secrets: some servers send nothing to who shows no certificate. */
export type ChainTarget = {
  readonly protocol: string;
  readonly url: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly reach: WorkspaceReach;
};

/** A look by the control plane itself; undefined when so many are under way that there is no place for one more. */
export type CentralLook = (target: ChainTarget) => Promise<SentChain | undefined>;

/** Handshakes of this process at the same time. */
const mostAtOnce = 20;
/** What one may take, in milliseconds. */
const lookMs = 10_000;

/** Makes what shakes hands from the control plane, under its own address policy. */
export function createCentralLook(
  context: InstallationReach & Pick<Context, 'deniedListeners' | 'now' | 'version'>,
): CentralLook {
  const clock = (): number => performance.now();
  const addresses = createAddressPolicy({ allowedPrivate: everyAddress, clock });
  const resolver = createResolver({ clock });
  const userAgent = `Parallax/${context.version} (availability monitor)`;
  let underWay = 0;
  return async ({ protocol, url, settings, reach }) => {
    if (underWay >= mostAtOnce) return undefined;
    addresses.setDeniedListeners(context.deniedListeners());
    underWay += 1;
    try {
      return await readChain(protocol, url, settings, {
        // Who asked may leave: the answer is kept for the next.
        signal: new AbortController().signal,
        timeoutMs: lookMs,
        clock,
        wallClock: context.now,
        addresses: addresses.within(centralRanges(context, reach)),
        resolver,
        userAgent,
      });
    } finally {
      underWay -= 1;
    }
  };
}
