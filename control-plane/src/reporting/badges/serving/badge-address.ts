import { badgeKinds, longestWindowDays } from '@parallax/api-contract';
import type { BadgeKind } from '@parallax/api-contract';
import { badgeKey } from '../key.ts';
import { shownText } from '../picture/text.ts';

export const badgePrefix = '/badge/';

export type BadgeForm = 'svg' | 'json';

/** Which badge an address names, and what it is to say. `hours` is undefined where that is no number of hours. */
export type BadgeAddress = {
  /** Undefined: no key can be such. */
  readonly key: string | undefined;
  readonly kind: BadgeKind | undefined;
  readonly form: BadgeForm;
  readonly hours: number | undefined;
  /** Undefined: the usual one. Empty: none. */
  readonly label: string | undefined;
};

const defaultHours = 720;
const maxHours = longestWindowDays * 24;

/** Reads the address of a badge: `/badge/{key}/{kind}.{form}?hours=720&label=api`. Other parameters are ignored. */
export function readAddress(path: string, query: string): BadgeAddress {
  const [, key = '', name = '', form = ''] = /^\/badge\/([^/]{1,100})\/([a-z]{1,20})\.(svg|json)$/.exec(path) ?? [];
  const parameters = new URLSearchParams(query);
  const label = parameters.get('label');
  return {
    key: badgeKey.isForm(key) ? key : undefined,
    kind: badgeKinds.find((kind) => kind === name),
    form: form === 'json' || (form === '' && path.endsWith('.json')) ? 'json' : 'svg',
    hours: hoursOf(parameters.get('hours')),
    label: label === null ? undefined : shownText(label),
  };
}

function hoursOf(text: string | null): number | undefined {
  if (text === null) return defaultHours;
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const hours = Number(text);
  return hours >= 1 && hours <= maxHours ? hours : undefined;
}
