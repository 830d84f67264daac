import { z } from 'zod';
import { present } from './imported.ts';

/** A row of the proxies of Uptime Kuma (`proxyList` of a backup, the table `proxy` of `kuma.db`). */
export const kumaProxySchema = z.object({
  id: z.number().nullish(),
  protocol: z.string().max(20),
  host: z.string().max(300),
  port: z.union([z.number(), z.string().max(10)]),
  auth: z.union([z.boolean(), z.number(), z.null()]).optional(),
  username: z.string().max(1000).nullish(),
  password: z.string().max(1000).nullish(),
  active: z.union([z.boolean(), z.number(), z.null()]).optional(),
});
export type KumaProxy = z.infer<typeof kumaProxySchema>;

const schemes: Readonly<Record<string, string>> = {
  http: 'http',
  https: 'https',
  socks: 'socks5',
  socks5: 'socks5',
  socks5h: 'socks5',
};

const isOff = (value: unknown): boolean => value === false || value === 0;

/**
 * The settings of a proxy. Nothing for one that is switched off, which Uptime Kuma goes around.
 * @param warnings is told of what is left out
 */
export function proxySettings(proxy: KumaProxy | undefined, warnings: string[]): Record<string, unknown> {
  if (proxy === undefined) {
    warnings.push('its proxy is left out, since the file does not say where it is');
    return {};
  }
  if (isOff(proxy.active)) return {};
  const scheme = schemes[proxy.protocol.toLowerCase()];
  if (scheme === undefined) {
    warnings.push(`its proxy is left out: "${proxy.protocol}" is not spoken here`);
    return {};
  }
  const username = proxy.auth === true || proxy.auth === 1 ? (proxy.username ?? '') : '';
  const user = username === '' ? '' : `${encodeURIComponent(username)}@`;
  const host = proxy.host.includes(':') && !proxy.host.startsWith('[') ? `[${proxy.host}]` : proxy.host;
  const password = username === '' || proxy.password === '' ? undefined : (proxy.password ?? undefined);
  return present({ proxy: `${scheme}://${user}${host}:${proxy.port}`, proxy_password: password });
}
