import type { Difference } from './difference.ts';

const toldDifferences = 3;
const toldCharacters = 120;
const maxCharacters = 1000;

/** Sentences for a person about the first few of some differences, nearest to the cause first. `a` and `b` are the names of the two places. */
export function tellDifferences(differences: readonly Difference[], a: string, b: string): string {
  if (differences.length === 0) return `${a} and ${b} saw the same when they looked step by step.`;
  const told = differences.slice(0, toldDifferences).map((each) => tell(each, a, b));
  const more = differences.length - told.length;
  const rest = more === 0 ? [] : [`${more} more ${more === 1 ? 'difference' : 'differences'}.`];
  return [...told, ...rest].join(' ').slice(0, maxCharacters);
}

function tell({ field, a: one, b: other }: Difference, a: string, b: string): string {
  const both = (verb: string, shown: (value: Difference['a']) => string): string =>
    `${a} ${verb} ${shown(one)}, ${b} ${shown(other)}.`;
  if (field === 'dns.addresses') return both('got', addresses);
  if (field === 'dns.failures') return both('was told by the name servers:', (value) => plain(value, 'no failure'));
  if (field === 'dns.duration_us') return both('resolved the name in', time);
  if (field === 'path') return `Path of ${a}: ${plain(one, 'unknown')}; of ${b}: ${plain(other, 'unknown')}.`;
  if (field === 'tls.tls_us') return both('shook hands in', time);
  if (field === 'tls.trouble') return both('found about TLS:', (value) => plain(value, 'no trouble'));
  if (field === 'answer.status') return both('was answered', (value) => plain(value, 'nothing'));
  if (field === 'answer.trouble') return both('found about the answer:', (value) => plain(value, 'no trouble'));
  if (field === 'answer.first_byte_us') return both('had the first byte in', time);
  const connection = /^connections\.([0-9a-f.:]+?)(\.connect_us)?$/i.exec(field);
  if (connection !== null) {
    const { 1: address, 2: timed } = connection;
    return timed === undefined
      ? `To ${address}: ${both('got', (value) => plain(value, 'nothing'))}`
      : `To ${address}: ${both('connected in', time)}`;
  }
  const certificate = /^tls\.certificate\.(\w+)$/.exec(field)?.[1];
  if (certificate !== undefined)
    return both(`was shown a certificate with ${certificate}`, (value) => plain(value, 'none'));
  const header = /^answer\.headers\.(.+)$/.exec(field)?.[1];
  if (header !== undefined) return both(`got the header ${header}`, (value) => quoted(value, 'not at all'));
  const body = /^answer\.body at (\d+)$/.exec(field)?.[1];
  if (body !== undefined)
    return `The body differs from character ${body} on: ${both('got', (value) => quoted(value, 'no body'))}`;
  return `${field}: ${both('has', (value) => plain(value, 'nothing'))}`;
}

function addresses(value: Difference['a']): string {
  return value === null || value === '' ? 'no address' : plain(value, 'no address');
}

function time(value: Difference['a']): string {
  return typeof value === 'number' ? `${Math.round(value / 1000)} ms` : 'no time';
}

/** One line, without control characters, cut. */
function plain(value: Difference['a'], absent: string): string {
  if (value === null) return absent;
  const line = String(value)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > toldCharacters ? `${line.slice(0, toldCharacters)}…` : line;
}

function quoted(value: Difference['a'], absent: string): string {
  return value === null ? absent : `“${plain(value, '')}”`;
}
