import { posix } from 'node:path';
import type { Target } from '../check.ts';
import { parseHostPort } from '../net/host.ts';

/** Where a daemon listens: a socket of the probe's own machine, or an origin. */
export type Daemon =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'network'; readonly origin: URL };

/** What the kernel takes for the name of a socket, in bytes. */
const maxSocketPath = 107;
const ports = { tcp: 2375, http: 2375, https: 2376 } as const;

/** The daemon that a target names, or a sentence about what is wrong with it. */
export function readDaemon(target: Target): Daemon | string {
  const text = target.url.trim();
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'unix') return readSocket(text.slice('unix://'.length));
  if (scheme === undefined || !Object.hasOwn(ports, scheme))
    return 'A daemon is named as unix:///var/run/docker.sock, https://host:2376 or tcp://host:2375.';
  if (!/^[^/?#]*\/?$/.test(text.slice(scheme.length + 3))) return 'The address of a daemon has no path.';
  const place = parseHostPort(text, { schemes: ports, defaultPort: undefined });
  if (typeof place === 'string') return place;
  const host = place.host.includes(':') && !place.host.startsWith('[') ? `[${place.host}]` : place.host;
  const origin = `${scheme === 'https' ? 'https' : 'http'}://${host}:${place.port}`;
  return URL.canParse(origin)
    ? { kind: 'network', origin: new URL(origin) }
    : `"${text.slice(0, 100)}" is not the address of a daemon.`;
}

/** A path in its normal form, so that what is compared with the operator's list is what is opened. */
function readSocket(path: string): Daemon | string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  if (!path.startsWith('/') || path.endsWith('/') || /[\0-\x1f\x7f]/.test(path))
    return 'A socket is named by its absolute path: unix:///var/run/docker.sock.';
  if (Buffer.byteLength(path) > maxSocketPath) return `The path of a socket has at most ${maxSocketPath} bytes.`;
  return { kind: 'socket', path: posix.normalize(path) };
}
