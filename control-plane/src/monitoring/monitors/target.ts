import { groupProtocol, invalidInput } from '@parallax/api-contract';
import type { MonitorProtocol, Problem } from '@parallax/api-contract';
import { isProtocol, movedCredentials } from '@parallax/checks';

const schemePattern = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * The protocol of a monitor: as given, else the scheme of its URL.
 * @throws Problem `invalid_input` when neither tells
 */
export function protocolOf(url: string, given: MonitorProtocol | undefined): MonitorProtocol {
  if (given !== undefined) return given;
  if (url === '') throw noUrl();
  const scheme = schemePattern.exec(url)?.[1]?.toLowerCase();
  if (scheme !== undefined && isProtocol(scheme)) return scheme;
  const reason =
    scheme === undefined
      ? 'the protocol is needed because the URL has no scheme'
      : `no protocol is named "${scheme}"; name the protocol that is to be used`;
  throw invalidInput('body', '/protocol', 'protocol_unknown', reason);
}

/** Every protocol but `group` is pointed at something. */
export function noUrl(): Problem {
  return invalidInput('body', '/url', 'required', 'the URL is needed; only a monitor of the protocol group has none');
}

/** Scheme, host and port of a target as one text; all of it where it is no URL. Equal texts are one place to send secrets to. */
function placeOf(protocol: string, url: string): string {
  const parsed = parse(schemePattern.test(url) ? url : `${protocol}://${url}`);
  return parsed === undefined ? url : `${parsed.protocol}//${parsed.host}`;
}

/** Settings that decide where a check, and so a secret, goes. */
const destinationSettings = ['server', 'proxy', 'resolver', 'token_url'] as const;

export type Destination = {
  readonly protocol: string;
  readonly url: string;
  readonly settings: Readonly<Record<string, unknown>>;
};

/** Whether secrets that were given for one destination would go elsewhere with the other: another scheme, host, port or relay, or a step of another origin. */
export function movesDestination(before: Destination, after: Destination): boolean {
  if (placeOf(before.protocol, before.url) !== placeOf(after.protocol, after.url)) return true;
  const isSteps = before.protocol === 'api' && after.protocol === 'api';
  if (isSteps && movedCredentials({ ...before.settings, url: before.url }, { ...after.settings, url: after.url }))
    return true;
  return destinationSettings.some(
    (name) => JSON.stringify(before.settings[name] ?? null) !== JSON.stringify(after.settings[name] ?? null),
  );
}

/** A name for a monitor that was given none: the host of its URL, else the target itself; 1 to 150 characters. */
export function nameFromTarget(url: string): string {
  if (url === '') return groupProtocol;
  const host = parse(schemePattern.test(url) ? url : `parallax://${url}`)?.hostname;
  const name = host === undefined || host === '' ? url : host.replace(/^\[|\]$/g, '');
  return Array.from(name.normalize('NFC')).slice(0, 150).join('');
}

/** The name itself, else with the first number from 2 that is free. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
