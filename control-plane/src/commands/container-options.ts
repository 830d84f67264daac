import { InvalidArgumentError } from 'commander';
import type { WantedProbe } from '../installation/index.ts';

/** A place to listen at, from "host:port". */
export type ListenPlace = { readonly host: string; readonly port: number };

/** Reads "host:port", with brackets around an IPv6 address. */
export function listenPlace(text: string): ListenPlace {
  const match = /^(?:\[([^\]]+)\]|([^:\s]+)):([1-9][0-9]{0,4})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535)
    throw new InvalidArgumentError('host:port is expected, such as 0.0.0.0:4222');
  return { host, port };
}

/** Reads "name=region" and adds it to those that were given before. The name becomes the name of a file. */
export function wantedProbe(text: string, before: readonly WantedProbe[] = []): readonly WantedProbe[] {
  const match = /^([A-Za-z0-9][\w.-]{0,62})=([A-Za-z0-9][\w.-]{0,62})$/.exec(text);
  const [, name, region] = match ?? [];
  if (name === undefined || region === undefined)
    throw new InvalidArgumentError('name=region is expected, such as probe-eu=eu-west');
  return [...before, { name, region }];
}
