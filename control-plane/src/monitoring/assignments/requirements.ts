import { checkTypeOf, isProtocol } from '@parallax/checks';

/** What a probe must be able to do for a check: what its type needs, and IPv6 where the settings ask for it. */
export function requiredCapabilities(protocol: string, settings: unknown): string[] {
  const requires: string[] = isProtocol(protocol) ? [...checkTypeOf(protocol).requires] : [];
  const wantsIpv6 =
    typeof settings === 'object' && settings !== null && 'ip_version' in settings && settings.ip_version === 6;
  if (wantsIpv6 && !requires.includes('ipv6')) requires.push('ipv6');
  return requires;
}
