import type { Diagnosis } from './diagnosis.ts';

/** One thing that two vantage points see differently. `a` and `b` are short and plain; absent is null. */
export type Difference = {
  /** For example `dns.addresses`, `tls.certificate.fingerprint_sha256`, `answer.headers.server`. */
  readonly field: string;
  readonly a: string | number | null;
  readonly b: string | number | null;
};

const maxDifferences = 50;
const shownCharacters = 300;
/** Times differ everywhere; these are worth a word. */
const timeFactor = 5;
const leastTimeUs = 200_000;
/** Headers that differ from answer to answer without meaning anything. */
const restless = new Set([
  'date',
  'age',
  'expires',
  'etag',
  'set-cookie',
  'content-length',
  'last-modified',
  'x-request-id',
  'x-trace-id',
  'cf-ray',
  'x-amz-cf-id',
  'x-amz-request-id',
  'report-to',
  'nel',
  'server-timing',
  'content-security-policy',
]);
const certificateFields = ['fingerprint_sha256', 'issuer', 'subject', 'not_after', 'protocol', 'cipher'] as const;

/**
 * What two diagnoses of one target do not agree on, in the order of the steps, so that the first is nearest to the cause. Swapping the
 * two swaps the sides and nothing else; a diagnosis does not differ from itself.
 */
export function difference(a: Diagnosis, b: Diagnosis): readonly Difference[] {
  const found: Difference[] = [];
  const note = (field: string, one: Difference['a'] | undefined, other: Difference['b'] | undefined): void => {
    if ((one ?? null) !== (other ?? null)) found.push({ field, a: short(one), b: short(other) });
  };
  const noteTime = (field: string, one: number | undefined, other: number | undefined): void => {
    if (one !== undefined && other !== undefined && isMuchSlower(one, other)) note(field, one, other);
  };

  note('dns.addresses', list(a.dns.addresses), list(b.dns.addresses));
  note('dns.failures', dnsFailures(a), dnsFailures(b));
  noteTime('dns.duration_us', a.dns.duration_us, b.dns.duration_us);

  const attempts = new Set([...a.connections, ...b.connections].map(({ address }) => address));
  for (const address of attempts) {
    const one = a.connections.find((each) => each.address === address);
    const other = b.connections.find((each) => each.address === address);
    // An address that only one side knows is told by the answers of DNS.
    if (one === undefined || other === undefined) continue;
    note(`connections.${address}`, one.trouble?.code ?? 'connected', other.trouble?.code ?? 'connected');
    noteTime(`connections.${address}.connect_us`, one.connect_us, other.connect_us);
  }

  // Paths from two places are never the same; only that one of them does not get there means something.
  if (a.path !== undefined && b.path !== undefined && a.path.reached !== b.path.reached)
    note('path', pathEnd(a.path), pathEnd(b.path));

  if (a.tls !== undefined && b.tls !== undefined) {
    note('tls.trouble', a.tls.trouble?.code, b.tls.trouble?.code);
    for (const field of certificateFields)
      note(`tls.certificate.${field}`, a.tls.certificate?.[field], b.tls.certificate?.[field]);
    noteTime('tls.tls_us', a.tls.tls_us, b.tls.tls_us);
  }

  if (a.answer !== undefined || b.answer !== undefined) {
    note('answer.trouble', a.answer?.trouble?.code, b.answer?.trouble?.code);
    note('answer.status', a.answer?.status, b.answer?.status);
    const names = new Set([...(a.answer?.headers ?? []), ...(b.answer?.headers ?? [])].map(([name]) => name));
    if (a.answer?.headers !== undefined && b.answer?.headers !== undefined)
      for (const name of [...names].filter((each) => !restless.has(each)).sort())
        note(`answer.headers.${name}`, header(a, name), header(b, name));
    const bodies = differingBodies(a.answer?.body, b.answer?.body);
    if (bodies !== undefined) note(`answer.body at ${bodies.at}`, bodies.a, bodies.b);
    noteTime('answer.first_byte_us', a.answer?.first_byte_us, b.answer?.first_byte_us);
  }
  return found.slice(0, maxDifferences);
}

function isMuchSlower(one: number, other: number): boolean {
  const [less, more] = one < other ? [one, other] : [other, one];
  return more - less >= leastTimeUs && more >= less * timeFactor;
}

function list(addresses: readonly string[]): string {
  return [...addresses].sort().join(', ');
}

/** That a name has no address of one family is no failure while it has one of the other. */
function dnsFailures({ dns }: Diagnosis): string | undefined {
  const telling = dns.failures.filter(({ code }) => code !== 'address_family_missing' || dns.addresses.length === 0);
  return telling.length === 0 ? undefined : telling.map(({ family, code }) => `IPv${family} ${code}`).join(', ');
}

function pathEnd({ reached, last_answer: last }: NonNullable<Diagnosis['path']>): string {
  if (reached) return 'reaches the target';
  return last === null ? 'no hop answers' : `last answer from hop ${last}`;
}

function header(diagnosis: Diagnosis, wanted: string): string | undefined {
  const values = diagnosis.answer?.headers?.filter(([name]) => name === wanted).map(([, value]) => value);
  return values === undefined || values.length === 0 ? undefined : values.join(', ');
}

/** From where on two bodies part, with a little of each from there. */
function differingBodies(
  a: string | undefined,
  b: string | undefined,
): { readonly at: number; readonly a: string | undefined; readonly b: string | undefined } | undefined {
  if (a === b) return undefined;
  if (a === undefined || b === undefined) return { at: 0, a, b };
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return { at, a: a.slice(at), b: b.slice(at) };
}

function short(value: string | number | null | undefined): string | number | null {
  return typeof value === 'string' ? value.slice(0, shownCharacters) : (value ?? null);
}
