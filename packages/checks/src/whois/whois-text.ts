import { cleanText, type DomainFacts, nameServerList, type Reading, statusList } from './facts.ts';
import { parseDate } from './dates.ts';

/** Names of the field that holds the end of a domain, in the order in which they are believed. Compared in lower case without dots and brackets. */
const expiryFields = [
  'registry expiry date',
  'registrar registration expiration date',
  'expiry date',
  'expiration date',
  'domain expiration date',
  'expiration time',
  'expire date',
  'expires on',
  'expires',
  'expire',
  'expiry',
  'expiration',
  'paid-till',
  'paid till',
  'valid until',
  'validity',
  'renewal date',
  'record expires on',
  'expire-date',
  'exp date',
  'domain expires',
  'expires at',
  'expired',
  'fecha de vencimiento',
  'fecha de expiracion',
  'data de expiracao',
  '有効期限',
];
const registrarFields = [
  'registrar',
  'registrar name',
  'sponsoring registrar',
  'registrar organization',
  'authorized agency',
  'organisation',
  'name',
];
const nameServerFields = [
  'name server',
  'name servers',
  'nameserver',
  'nameservers',
  'nserver',
  'ns',
  'host name',
  'dns',
  'p ネームサーバ',
  'ネームサーバ',
];
const statusFields = ['domain status', 'status', 'state', 'eppstatus'];

const notFound =
  /^\s*(?:[%#>*]+\s*)?(?:no match\b|not found\b|no entries found|no data found|no object found|nothing found|no such domain|domain not found|no found\b|object does not exist|the queried object does not exist|domain name not known)|\bis (?:available for|free\b|not registered)|^\s*(?:domain )?status:\s*(?:free|available)\b|^\s*no match for\b/im;
const rateLimited =
  /\b(?:limit exceeded|quota exceeded|exceeded (?:the )?(?:quota|limit|maximum|your)|too many (?:requests|queries|connections)|query rate|rate.?limit|try again later|temporarily (?:denied|blocked)|(?:access|connection) (?:has been )?(?:denied|refused|limited)|blacklisted)\b/i;

/** The fields of an answer: `name: value`, `name....: value`, `[name] value`, and names with their values on the lines below. */
export function fieldsOf(text: string): ReadonlyArray<readonly [string, string]> {
  const fields: Array<readonly [string, string]> = [];
  let open: string | undefined;
  for (const raw of text.split(/\r?\n/).slice(0, 2000)) {
    const line = raw.slice(0, 500).trimEnd();
    if (line.trim() === '' || /^\s*[%#>]/.test(line)) {
      if (line.trim() === '') open = undefined;
      continue;
    }
    const found =
      /^\s*(?:[a-z]\. )?\[([^\]]{1,60})\]\s*(.*)$/.exec(line) ?? /^\s*([^:[\]]{1,60}?)[\s.]*:(?:\s+(.*))?$/.exec(line);
    if (found === null) {
      if (/^name ?servers?$/i.test(line)) open = 'nameservers';
      else if (open !== undefined) fields.push([open, line.trim()]);
      continue;
    }
    const name = (found[1] ?? '').trim().toLowerCase();
    const value = (found[2] ?? '').trim();
    open = value === '' ? name : undefined;
    if (value !== '') fields.push([name, value]);
  }
  return fields;
}

/** Reads what a WHOIS server (RFC 3912) answered. There is no format: what is looked for is what registries use. */
export function readWhois(text: string): Reading {
  const fields = fieldsOf(text);
  const facts = factsOf(fields);
  if (facts.expiresAt !== undefined || facts.nameServers.length > 0) return { kind: 'found', facts };
  // The notice that queries are limited stands under many good answers as well, so it only counts where nothing else does.
  if (notFound.test(text)) return { kind: 'not_found' };
  if (rateLimited.test(text)) return { kind: 'rate_limited' };
  return facts.registrar !== undefined && facts.statuses.length > 0 ? { kind: 'found', facts } : { kind: 'unreadable' };
}

function factsOf(fields: ReadonlyArray<readonly [string, string]>): DomainFacts {
  const values = (names: readonly string[]) =>
    names.flatMap((name) => fields.filter((each) => each[0] === name).map((each) => each[1]));
  let expiresAt: number | undefined;
  for (const value of values(expiryFields)) {
    expiresAt ??= parseDate(value);
  }
  const registrar = values(registrarFields)[0];
  return {
    expiresAt,
    registrar: registrar === undefined ? undefined : cleanText(registrar),
    // Addresses stand behind the name in some answers.
    nameServers: nameServerList(
      values(nameServerFields)
        .map((each) => each.split(/[\s,]+/)[0] ?? '')
        .filter((each) => each.includes('.')),
    ),
    statuses: statusList(values(statusFields).flatMap((each) => each.split(/\s*,\s*/))),
  };
}

/** The server that an answer sends to for more, as `host` or `host:port`; undefined for none. IANA writes `refer:`, registries name their registrar's. */
export function referralOf(text: string): string | undefined {
  const fields = fieldsOf(text);
  const value = ['refer', 'whois', 'referralserver', 'registrar whois server', 'whois server']
    .flatMap((name) => fields.filter((each) => each[0] === name).map((each) => each[1]))
    .map((each) => each.replace(/^r?whois:\/\//i, '').replace(/\/.*$/, ''))
    .find((each) => /^[\w.[\]:-]{3,260}$/.test(each));
  return value?.toLowerCase();
}
