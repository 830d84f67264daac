import { cleanText, nameServerList, type Reading, statusList } from './facts.ts';
import { parseDate } from './dates.ts';

type Json = { readonly [name: string]: unknown };

/** Reads the domain object of RDAP (RFC 9083, 5.3). What is not of the form that the standard says is passed over. */
export function readRdap(text: string): Reading {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { kind: 'unreadable' };
  }
  const domain = objectOf(parsed);
  if (domain?.['objectClassName'] !== 'domain') return { kind: 'unreadable' };
  const end = listOf(domain['events']).find((each) => each['eventAction'] === 'expiration')?.['eventDate'];
  return {
    kind: 'found',
    facts: {
      expiresAt: typeof end === 'string' ? parseDate(end) : undefined,
      registrar: registrarOf(domain),
      nameServers: nameServerList(listOf(domain['nameservers']).flatMap((each) => textOf(each['ldhName']))),
      statuses: statusList(arrayOf(domain['status']).flatMap(textOf)),
    },
  };
}

/** The formatted name in the card (RFC 7095) of the entity with the role of registrar, else its handle. */
function registrarOf(domain: Json): string | undefined {
  const entity = listOf(domain['entities']).find((each) => arrayOf(each['roles']).includes('registrar'));
  if (entity === undefined) return undefined;
  const card = arrayOf(arrayOf(entity['vcardArray'])[1]).map(arrayOf);
  const name = card.find((each) => each[0] === 'fn')?.[3];
  const shown = [...textOf(name), ...textOf(entity['handle'])][0];
  return shown === undefined ? undefined : cleanText(shown);
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 200) : [];
}

function listOf(value: unknown): readonly Json[] {
  return arrayOf(value)
    .map(objectOf)
    .filter((each) => each !== undefined);
}

function textOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : [];
}
