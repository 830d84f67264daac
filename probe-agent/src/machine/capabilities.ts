import { accessSync, constants } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import type { ProbeCapability } from '@parallax/checks';

/** What this machine has of what some checks need; each with how to mend it where it is missing. */
export type MachineFinding = {
  readonly capability: ProbeCapability;
  readonly present: boolean;
  readonly detail: string;
  readonly remedy: string;
};

/** Looks at the machine once. `searchPath` as in PATH; /usr/sbin and /usr/bin are looked at in any case. */
export function inspectMachine(searchPath: string): MachineFinding[] {
  const folders = [
    ...searchPath.split(path.delimiter).filter((folder) => folder !== ''),
    '/usr/bin',
    '/usr/sbin',
    '/sbin',
  ];
  const fping = findExecutable('fping', folders);
  const ping = findExecutable('ping', folders);
  const globalIpv6 = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find((address) => address.family === 'IPv6' && !address.internal && !/^fe80:/i.test(address.address));
  return [
    {
      capability: 'icmp',
      present: fping !== undefined || ping !== undefined,
      detail: fping ?? ping ?? 'neither fping nor ping is installed',
      remedy:
        fping === undefined
          ? 'install fping (apt-get install fping); ping alone works, but costs one process for each check'
          : '',
    },
    {
      capability: 'ipv6',
      present: globalIpv6 !== undefined,
      detail: globalIpv6?.address ?? 'no interface has a global IPv6 address',
      remedy:
        globalIpv6 === undefined
          ? 'give this machine an IPv6 address; checks that ask for IPv6 are not assigned to this probe'
          : '',
    },
  ];
}

/** The capabilities that the control plane is told of. */
export function capabilitiesOf(findings: readonly MachineFinding[]): ProbeCapability[] {
  return findings.filter((finding) => finding.present).map((finding) => finding.capability);
}

function findExecutable(name: string, folders: readonly string[]): string | undefined {
  return folders
    .map((folder) => path.join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
