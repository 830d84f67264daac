import type { FactName, Known } from '../facts.ts';
import { holds, type Test } from './compare.ts';
import { parsePath, valueAt } from './json-path.ts';
import { type AssertionNode, leavesOf, type Severity, severities, type Subject } from './settings.ts';

/** A tree that does not hold: how grave that is, and a sentence about the assertion that says so. */
export type Breach = { readonly severity: Severity; readonly message: string };

/** Longest JSON body that is read, in characters. */
const maxJson = 1024 * 1024;
const shownCharacters = 100;
/** Values of these headers are credentials of the session that the server opened. */
const credentials = new Set(['set-cookie', 'set-cookie2', 'authorization', 'proxy-authorization', 'cookie']);

const factsOf: Readonly<Record<Subject, readonly FactName[]>> = {
  status: ['status'],
  response_time: [],
  phase: [],
  header: ['headers'],
  body: ['body'],
  body_bytes: ['bodyBytes'],
  json: ['body'],
  final_url: ['finalUrl'],
  redirects: ['redirects'],
  certificate_days: ['certificateDays'],
  dns_answer: ['answers'],
  packet_loss: ['lossPercent'],
  jitter: ['jitterUs'],
  address: ['address'],
  version: ['version'],
  details: ['details'],
};

/** The facts that a tree looks at. */
export function wantedFacts(tree: AssertionNode): ReadonlySet<FactName> {
  return new Set(leavesOf(tree).flatMap(({ subject }) => (subject === undefined ? [] : factsOf[subject])));
}

/**
 * Judges a tree by what is known of a run. `all` is as grave as its gravest child and `any` as its mildest, where a child that holds is
 * milder than any that does not; the breach is that of the first child of that gravity. Undefined when the tree holds. A fact that the
 * run does not have fails every assertion about it but `not_exists`.
 * @param redact takes secrets out of a value before it is shown
 */
export function evaluate(tree: AssertionNode, known: Known, redact: (text: string) => string): Breach | undefined {
  return judge(tree, meansOf(tree, known, redact));
}

/** Whether each single assertion of a tree holds by itself, in their order: for a person, who wants to know of all of them. */
export function verdictsOf(tree: AssertionNode, known: Known): readonly boolean[] {
  const means = meansOf(tree, known, (text) => text);
  return leavesOf(tree).map((leaf) => judgeLeaf(leaf, means) === undefined);
}

function meansOf(tree: AssertionNode, known: Known, redact: (text: string) => string): Means {
  const document = { read: false, value: undefined as unknown };
  const json = (): unknown => {
    if (document.read) return document.value;
    document.read = true;
    document.value = parsed(known);
    return document.value;
  };
  const patterns = leavesOf(tree).filter(({ comparison }) => comparison?.endsWith('matches') === true).length;
  return { known, json, redact, patterns: Math.max(1, patterns) };
}

type Means = {
  readonly known: Known;
  readonly json: () => unknown;
  readonly redact: (text: string) => string;
  readonly patterns: number;
};

function judge(node: AssertionNode, means: Means): Breach | undefined {
  const children = node.all ?? node.any;
  if (children === undefined) return judgeLeaf(node, means);
  const isAll = node.all !== undefined;
  let found: Breach | undefined;
  for (const [index, child] of children.entries()) {
    const breach = judge(child, means);
    if (!isAll && breach === undefined) return undefined;
    const isGraver = gravity(breach) > gravity(found);
    const isMilder = gravity(breach) < gravity(found);
    if (index === 0 || (isAll ? isGraver : isMilder)) found = breach;
  }
  return found;
}

/** 0 for what holds, then warn, degraded, fail. */
function gravity(breach: Breach | undefined): number {
  return breach === undefined ? 0 : severities.length - severities.indexOf(breach.severity);
}

function judgeLeaf(leaf: AssertionNode, { known, json, redact, patterns }: Means): Breach | undefined {
  const { subject, comparison, value, name } = leaf;
  if (subject === undefined || comparison === undefined) throw new Error('The assertion was not validated.');
  const severity = leaf.severity ?? 'fail';
  const what = name === undefined ? titles[subject] : `${titles[subject]} ${name.slice(0, shownCharacters)}`;
  const values = valuesOf(subject, name ?? '', known, json);
  if (values === undefined) {
    if (comparison === 'not_exists') return undefined;
    return { severity, message: `Nothing is known of ${what}, which the check is to judge.` };
  }
  const test: Test = {
    comparison,
    value,
    ignoreCase: leaf.ignore_case ?? subject === 'address',
    loose: subject !== 'json' && subject !== 'details',
    patterns,
  };
  const held = settledByCut(subject, comparison, known) ? undefined : holds(test, values);
  if (held === true) return undefined;
  const wanted = value === undefined ? '' : ` ${JSON.stringify(value).slice(0, 2 * shownCharacters)}`;
  const rule = `${comparison.replaceAll('_', ' ')}${wanted}`;
  if (held === undefined || (known.bodyTruncated === true && subject === 'body'))
    return {
      severity,
      message: `Only the beginning of ${what} could be searched, which does not tell whether it ${rule}.`,
    };
  return {
    severity,
    message: `${capital(what)} is ${shownValues(subject, name, values, redact)}; asserted is: ${rule}.`,
  };
}

/** What must not occur in a body cannot be ruled out by a part of it. */
function settledByCut(subject: Subject, comparison: string, known: Known): boolean {
  const negative = comparison === 'not_contains' || comparison === 'not_matches';
  return subject === 'body' && known.bodyTruncated === true && (negative || comparison === 'equals');
}

const titles: Readonly<Record<Subject, string>> = {
  status: 'the status',
  response_time: 'the response time in ms',
  phase: 'the phase in ms',
  header: 'the header',
  body: 'the body',
  body_bytes: 'the length of the body',
  json: 'the JSON value',
  final_url: 'the final URL',
  redirects: 'the number of redirects',
  certificate_days: 'the days until the certificate ends',
  dns_answer: 'the answer',
  packet_loss: 'the packet loss in percent',
  jitter: 'the jitter in ms',
  address: 'the address',
  version: 'the version',
  details: 'the fact',
};

/** The values of a subject; empty when the run tells that there are none, undefined when it does not tell. */
function valuesOf(subject: Subject, name: string, known: Known, json: () => unknown): readonly unknown[] | undefined {
  switch (subject) {
    case 'status':
      return one(known.status);
    case 'response_time':
      return [known.totalUs / 1000];
    case 'phase':
      return one(milliseconds(known.phases[name as keyof Known['phases']]));
    case 'header':
      return known.headers?.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
    case 'body':
      return one(known.body);
    case 'body_bytes':
      return one(known.bodyBytes);
    case 'json': {
      const document = json();
      const path = parsePath(name);
      if (document === undefined || typeof path === 'string') return undefined;
      const value = valueAt(document, path);
      return value === undefined ? [] : [value];
    }
    case 'final_url':
      return one(known.finalUrl);
    case 'redirects':
      return one(known.redirects);
    case 'certificate_days':
      return one(known.certificateDays);
    case 'dns_answer':
      return known.answers;
    case 'packet_loss':
      return one(known.lossPercent);
    case 'jitter':
      return one(milliseconds(known.jitterUs));
    case 'address':
      return one(known.address);
    case 'version':
      return one(known.version);
    case 'details':
      return known.details !== undefined && Object.hasOwn(known.details, name) ? [known.details[name]] : undefined;
  }
}

function one(value: string | number | undefined): readonly unknown[] | undefined {
  return value === undefined ? undefined : [value];
}

function milliseconds(durationUs: number | undefined): number | undefined {
  return durationUs === undefined ? undefined : durationUs / 1000;
}

function parsed(known: Known): unknown {
  const { body } = known;
  if (body === undefined || known.bodyTruncated === true || body.length > maxJson) return undefined;
  try {
    return JSON.parse(body.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** A body is kept beside the result as evidence and not repeated in a sentence. */
function shownValues(
  subject: Subject,
  name: string | undefined,
  values: readonly unknown[],
  redact: (text: string) => string,
): string {
  if (values.length === 0) return 'absent';
  if (subject === 'body') return `${String(values[0]).length} characters long`;
  if (subject === 'header' && credentials.has((name ?? '').toLowerCase())) return '[redacted]';
  const shown = values
    .slice(0, 5)
    .map((each) => redact(typeof each === 'string' ? each : (JSON.stringify(each) ?? '')));
  return shown
    .map((each) => each.slice(0, shownCharacters))
    .join(', ')
    .replace(/[\p{Cc}\s]+/gu, ' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
