import { isIP } from 'node:net';
import { isLoopbackHost, isPublished } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import type { Context } from './context.ts';

type Places = Pick<
  Context,
  'publicUrl' | 'frontendUrl' | 'addresses' | 'listen' | 'isPublished' | 'registration' | 'needsSetupToken'
> & {
  readonly natsUrl: string;
  /** Every place where the product listens, by address or name as the settings have it; see `startOwnListeners`. */
  readonly ownListeners: readonly { readonly host: string; readonly port: number }[];
};

/** Where everything listens and is dialled, from the settings: their public forms where they are given, else host and port. */
export function places(settings: ControlPlaneSettings): Places {
  const { httpHost, httpPort, grpcHost, grpcPort, enrolmentPort, natsHost, natsPort } = settings;
  const addresses = {
    session: settings.grpcPublicAddress ?? `${dialled(grpcHost, '127.0.0.1')}:${grpcPort}`,
    enrolment: settings.enrolmentPublicAddress ?? `${dialled(grpcHost, '127.0.0.1')}:${enrolmentPort}`,
    broker: settings.natsPublicAddress ?? `${dialled(natsHost, '127.0.0.1')}:${natsPort}`,
  };
  const published = isPublished(settings);
  return {
    publicUrl: settings.publicUrl ?? `http://${dialled(httpHost, 'localhost')}:${httpPort}`,
    ...(settings.frontendUrl === undefined ? {} : { frontendUrl: settings.frontendUrl.replace(/\/+$/, '') }),
    natsUrl: settings.natsUrl ?? `tls://${dialled(natsHost, '127.0.0.1')}:${natsPort}`,
    addresses,
    listen: { grpcHost, grpcPort, enrolmentPort },
    ownListeners: [
      { host: httpHost, port: httpPort },
      { host: grpcHost, port: grpcPort },
      { host: grpcHost, port: enrolmentPort },
      { host: natsHost, port: natsPort },
      ...(settings.metricsPort === undefined ? [] : [{ host: settings.metricsHost, port: settings.metricsPort }]),
      ...[settings.databaseUrl, settings.databaseApiUrl, settings.databaseWorkerUrl].flatMap((url) =>
        listenerOf(url, 5432),
      ),
      ...listenerOf(settings.natsUrl, 4222),
      // By the names that probes dial they may be other addresses, those of a gateway in front of them.
      ...[settings.grpcPublicAddress, settings.enrolmentPublicAddress, settings.natsPublicAddress].flatMap((address) =>
        listenerOf(address === undefined ? undefined : `tls://${address}`, 443),
      ),
    ],
    isPublished: published,
    // A stranger's account may check and write from here: who is a stranger is for the operator to say.
    registration: settings.registration ?? (published ? 'invite' : 'open'),
    needsSetupToken: ({ isFromThisMachine }) => published || !isFromThisMachine,
  };
}

/** The host and port of a URL; none for a Unix socket. */
function listenerOf(url: string | undefined, usualPort: number): { host: string; port: number }[] {
  const found = /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^:/?,]+)(?::(\d+))?/.exec(url ?? '');
  const host = found?.[1]?.replace(/^\[|\]$/g, '');
  if (host === undefined || host.includes('%')) return [];
  return [{ host, port: Number(found?.[2] ?? usualPort) }];
}

/** The host as somebody on this machine would dial it: a wildcard address is not one. */
function dialled(host: string, local: string): string {
  if (host === '0.0.0.0' || host === '::') return local;
  if (isLoopbackHost(host)) return local;
  return isIP(host) === 6 ? `[${host}]` : host;
}
