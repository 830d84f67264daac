import ipaddr from 'ipaddr.js';
import type { ControlPlaneSettings } from './control-plane.ts';

/** True for `localhost` and for addresses of the loopback interface, also in brackets. A name that merely begins with `127.` is none. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === 'localhost') return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

/**
 * True when others than the people of this machine may reach the API: it listens beyond loopback, its links lead elsewhere, or a proxy
 * speaks for others. What is convenient on one's own machine (a first account without proof, private targets, open registration) is off then.
 */
export function isPublished(
  settings: Pick<ControlPlaneSettings, 'httpHost'> &
    Partial<Pick<ControlPlaneSettings, 'publicUrl' | 'trustedProxies'>>,
): boolean {
  const { httpHost, publicUrl, trustedProxies } = settings;
  return (
    !isLoopbackHost(httpHost) ||
    (publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname)) ||
    (trustedProxies ?? []).length > 0
  );
}
