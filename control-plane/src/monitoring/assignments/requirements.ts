import { checkTypeOf, isProtocol } from '@parallax/checks';

/** What a probe must be able to do for a check: what its type needs, at all or for such a target, and IPv6 where the settings ask for it. */
export function requiredCapabilities(protocol: string, url: string, settings: unknown): string[] {
  const checkType = isProtocol(protocol) ? checkTypeOf(protocol) : undefined;
  const requires = new Set<string>([...(checkType?.requires ?? []), ...(checkType?.requiresFor?.({ url }) ?? [])]);
  const wantsIpv6 =
    typeof settings === 'object' && settings !== null && 'ip_version' in settings && settings.ip_version === 6;
  if (wantsIpv6) requires.add('ipv6');
  return [...requires];
}
