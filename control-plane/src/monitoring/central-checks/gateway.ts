import {
  createAddressPolicy,
  everyAddress,
  createResolver,
  dependsOnUplink,
  isOwnAddress,
  runCheck,
  systemUplinkParts,
  Uplink,
  withThreshold,
} from '@parallax/checks';
import { groupProtocol } from '@parallax/api-contract';
import type { CheckOutcome, UplinkParts } from '@parallax/checks';
import type { Context } from '../../context.ts';
import { centralRanges, noReach } from '../assignments/index.ts';
import type { InstallationReach } from '../assignments/index.ts';
import { createGroupCheck } from '../groups/check/index.ts';
import type { GroupLook } from '../groups/check/index.ts';
import { withOwnDenial } from './denial.ts';
import { readSessions } from './queries.ts';
import type { CheckedMonitor } from './queries.ts';

/** One run by the control plane itself. */
export type CentralRun = {
  readonly startedMs: number;
  readonly outcome: CheckOutcome;
  readonly trace: ReadonlyArray<{ readonly atMs: number; readonly step: string; readonly detail: string }>;
  /** What was seen of the members of a group monitor. */
  readonly look?: GroupLook;
};

export type CentralCheckOptions = {
  readonly signal: AbortSignal;
  /** Keeps the steps for a person. */
  readonly isTraced?: boolean;
};

/** Runs one check; never rejects for anything that a target does. */
export type CentralCheck = (monitor: CheckedMonitor, options: CentralCheckOptions) => Promise<CentralRun>;

export type CentralCheckContext = Pick<
  Context,
  'allowedPrivateTargets' | 'deniedListeners' | 'canaries' | 'now' | 'version' | 'replica' | 'log'
> &
  InstallationReach & { readonly database: { readonly raw: Parameters<typeof readSessions>[0] } };

const clock = (): number => performance.now();

/**
 * Makes what runs the control plane's own checks, scheduled and manual alike, under its own address policy. A failure that a lost uplink
 * would explain counts only after a look at the uplink that began when the check had ended (rule 12). An address that the policy denies is never
 * a failure of the target.
 * @param parts what is asked about the uplink; the system's when absent
 */
export function createCentralCheck(
  context: CentralCheckContext,
  parts: UplinkParts = systemUplinkParts(context.canaries),
): CentralCheck {
  const addresses = createAddressPolicy({ allowedPrivate: everyAddress, clock });
  // A private address means one machine here and another where a private probe stands: of that one nothing can be said from here.
  const publicOnly = addresses.within([]);
  let denied: ReturnType<Context['deniedListeners']> = [];
  const resolver = createResolver({ clock });
  const userAgent = `Parallax/${context.version} (availability monitor)`;
  const examine = createExaminer(context, parts);
  const checkGroup = createGroupCheck(context);
  return async (monitor, { signal, isTraced = false }) => {
    // It asks the database and nobody else, so neither addresses nor the uplink play a part.
    if (monitor.protocol === groupProtocol && monitor.workspaceId !== undefined)
      return checkGroup({ workspaceId: monitor.workspaceId, settings: monitor.settings });
    if (denied !== context.deniedListeners()) {
      denied = context.deniedListeners();
      addresses.setDeniedListeners(denied);
    }
    const startedMs = context.now();
    const start = clock();
    const trace: { atMs: number; step: string; detail: string }[] = [];
    const raw = await runCheck(monitor.protocol, { url: monitor.url }, monitor.settings, {
      signal,
      timeoutMs: monitor.timeoutS * 1_000,
      clock,
      wallClock: context.now,
      addresses:
        monitor.isOfPrivateProbes === true
          ? publicOnly
          : addresses.within(centralRanges(context, monitor.reach ?? noReach)),
      resolver,
      ...(isTraced && {
        trace: (step: string, detail: string) =>
          trace.push({ atMs: Math.round((clock() - start) * 1_000) / 1_000, step, detail }),
      }),
      userAgent,
    });
    const outcome = await examine(withThreshold(withOwnDenial(raw), monitor.degradedThresholdMs), startedMs);
    return { startedMs, outcome, trace };
  };
}

function createExaminer(
  context: CentralCheckContext,
  parts: UplinkParts,
): (outcome: CheckOutcome, startedMs: number) => Promise<CheckOutcome> {
  const uplink = new Uplink({
    ...parts,
    // Asked last and only when all else fails, see below: sessions are known from the database.
    sessionStands: () => false,
    onChange: (lost) => {
      if (lost)
        context.log.warn({}, 'the uplink of the control plane is lost: failures of targets elsewhere are its own');
      else context.log.info({}, 'the uplink of the control plane is back');
    },
  });
  return async (outcome, startedMs) => {
    if (!dependsOnUplink(outcome)) return outcome;
    await uplink.lookAfresh();
    if (!uplink.lost || (await isHeardElsewhere(context, startedMs))) return outcome;
    return uplink.examine(outcome);
  };
}

/** Whether a probe on another machine was heard by this process since the check began. */
async function isHeardElsewhere(context: CentralCheckContext, sinceMs: number): Promise<boolean> {
  const sessions = await readSessions(context.database.raw).catch(() => []);
  return sessions.some(
    ({ replica, remoteAddress, heardMs }) =>
      replica === context.replica && remoteAddress !== undefined && !isOwnAddress(remoteAddress) && heardMs >= sinceMs,
  );
}
