import { createAddressPolicy } from '@parallax/checks';

/** What a workspace may reach beyond public addresses and beside what the installation allows to everybody. */
export type WorkspaceReach = {
  /** Made by an administrator of the installation who still owns it. */
  readonly isAdministrators: boolean;
  /** CIDRs that an administrator has allowed to it. */
  readonly ranges: readonly string[];
};

/** What the settings of the installation allow. */
export type InstallationReach = {
  /** CIDRs for every workspace. */
  readonly allowedPrivateTargets: readonly string[];
  /** CIDRs for the workspaces of administrators beside. */
  readonly administratorPrivateTargets?: readonly string[];
};

export const noReach: WorkspaceReach = { isAdministrators: false, ranges: [] };

/** What the control plane itself may reach for a workspace. */
export function centralRanges(installation: InstallationReach, workspace: WorkspaceReach): readonly string[] {
  return [
    ...installation.allowedPrivateTargets,
    ...workspace.ranges,
    ...(workspace.isAdministrators ? (installation.administratorPrivateTargets ?? []) : []),
  ];
}

/**
 * What a probe is told for a monitor of a workspace. The probe's own list caps it. A private probe belongs to the workspace, and a shared one
 * to whoever runs the installation, so their owners' own lists are the whole rule there.
 */
export function probeTargets(
  everybody: readonly string[],
  workspace: WorkspaceReach,
  probe: { readonly isPrivate: boolean },
): { all: boolean; ranges: string[] } {
  return probe.isPrivate ? { all: true, ranges: [] } : sharedProbeTargets(everybody, workspace);
}

/** The same for a probe that belongs to no workspace; the session of a private one replaces it. */
export function sharedProbeTargets(
  everybody: readonly string[],
  workspace: WorkspaceReach,
): { all: boolean; ranges: string[] } {
  if (workspace.isAdministrators) return { all: true, ranges: [] };
  return { all: false, ranges: [...new Set([...everybody, ...workspace.ranges])] };
}

/** What `probeTargets` depends on beside the database. Agents echo it; a probe that has another one gets a snapshot. */
export function privateTargetsBasis(everybody: readonly string[]): string {
  return `1:${[...new Set(everybody)].sort().join()}`;
}

/** Protocols whose target names something that is not dialled. */
const undialled = new Set(['dns', 'dnsbl', 'whois', 'rdap', 'docker', 'group']);

/**
 * Why no check of the workspace will reach a target; undefined where one may. Only what the target itself shows counts here: names
 * are judged by each check, which judges the address that it dials.
 */
export function unreachableTarget(
  target: { readonly protocol: string; readonly url: string },
  ranges: readonly string[],
): string | undefined {
  if (undialled.has(target.protocol)) return undefined;
  const host = hostOf(target.url);
  if (host === undefined) return undefined;
  const addresses = host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : [host];
  const policy = createAddressPolicy({ allowedPrivate: ranges, localAddresses: () => [] });
  const denials = addresses.map((address) => policy.judge(address, 0));
  return denials.every((denial) => denial?.rule === 'not_global' || denial?.rule === 'metadata')
    ? denials[0]?.reason
    : undefined;
}

function hostOf(url: string): string | undefined {
  const text = /^[a-z][a-z0-9+.-]*:\/\//iu.test(url) ? url : `parallax://${url}`;
  if (!URL.canParse(text)) return undefined;
  return new URL(text).hostname.replace(/^\[|\]$/gu, '').toLowerCase();
}
