import { isIP } from 'node:net';
import type { ControlPlaneSettings } from '@parallax/settings';
import type { Context } from './context.ts';

type Places = Pick<Context, 'publicUrl' | 'addresses' | 'listen' | 'deniedListeners' | 'needsSetupToken'> & {
  readonly natsUrl: string;
};

/** Where everything listens and is dialled, from the settings: their public forms where they are given, else host and port. */
export function places(settings: ControlPlaneSettings): Places {
  const { httpHost, httpPort, grpcHost, grpcPort, enrolmentPort, natsHost, natsPort } = settings;
  return {
    publicUrl: settings.publicUrl ?? `http://${dialled(httpHost, 'localhost')}:${httpPort}`,
    natsUrl: settings.natsUrl ?? `tls://${dialled(natsHost, '127.0.0.1')}:${natsPort}`,
    addresses: {
      session: settings.grpcPublicAddress ?? `${dialled(grpcHost, '127.0.0.1')}:${grpcPort}`,
      enrolment: settings.enrolmentPublicAddress ?? `${dialled(grpcHost, '127.0.0.1')}:${enrolmentPort}`,
      broker: settings.natsPublicAddress ?? `${dialled(natsHost, '127.0.0.1')}:${natsPort}`,
    },
    listen: { grpcHost, grpcPort, enrolmentPort },
    deniedListeners: [
      { address: httpHost, port: httpPort },
      { address: grpcHost, port: grpcPort },
      { address: grpcHost, port: enrolmentPort },
      { address: natsHost, port: natsPort },
      ...(settings.metricsPort === undefined ? [] : [{ address: '127.0.0.1', port: settings.metricsPort }]),
      ...[settings.databaseUrl, settings.databaseApiUrl, settings.databaseWorkerUrl].flatMap((url) =>
        listenerOf(url, 5432),
      ),
      ...listenerOf(settings.natsUrl, 4222),
    ],
    needsSetupToken: !isLoopback(httpHost),
  };
}

/** The address and port of a URL; none for a Unix socket. A name other than localhost is left out, since a name stands for this machine. */
function listenerOf(url: string | undefined, usualPort: number): { address: string; port: number }[] {
  const found = /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^:/?,]+)(?::(\d+))?/.exec(url ?? '');
  const address = found?.[1]?.replace(/^\[|\]$/g, '');
  if (address === undefined || (isIP(address) === 0 && address !== 'localhost')) return [];
  return [{ address, port: Number(found?.[2] ?? usualPort) }];
}

/** The host as somebody on this machine would dial it: a wildcard address is not one. */
function dialled(host: string, local: string): string {
  if (host === '0.0.0.0' || host === '::') return local;
  if (isLoopback(host)) return local;
  return isIP(host) === 6 ? `[${host}]` : host;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
