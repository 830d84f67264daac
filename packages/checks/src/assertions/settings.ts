import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { type Pattern, patternProblem } from '../http/keyword.ts';
import { pathProblem } from './json-path.ts';

/** What an assertion may look at, with what its `name` says there. */
export const subjects = {
  status: 'the status code',
  response_time: 'the response time in milliseconds',
  phase: 'one phase in milliseconds; `name` is dns, connect, tls, first_byte or transfer',
  header: 'the values of a header; `name` is its name',
  body: 'the text of the body',
  body_bytes: 'the length of the body in bytes, as it was sent',
  json: 'a value of a JSON body; `name` is its path',
  final_url: 'the URL after all redirects',
  redirects: 'how many redirects were followed',
  certificate_days: 'whole days until the certificate ends',
  dns_answer: 'the values of the answer: DNS records, rows',
  packet_loss: 'lost packets in percent',
  jitter: 'jitter in milliseconds',
  address: 'the address that was checked',
  version: 'the version of the protocol or server',
  details: 'a fact of the check type; `name` is its name',
} as const;
export type Subject = keyof typeof subjects;
const subjectNames = Object.keys(subjects) as [Subject, ...Subject[]];

/** Comparisons. The negative ones hold where nothing is there to compare; see `evaluate`. */
export const comparisons = [
  'equals',
  'not_equals',
  'less',
  'at_most',
  'more',
  'at_least',
  'one_of',
  'contains',
  'not_contains',
  'matches',
  'not_matches',
  'exists',
  'not_exists',
] as const;
export type Comparison = (typeof comparisons)[number];

/** How grave a failing assertion is: the outcome becomes `fail`, `slow` or `warn`. */
export const severities = ['fail', 'degraded', 'warn'] as const;
export type Severity = (typeof severities)[number];

/** Levels of a tree, the single assertions included. */
export const maxDepth = 4;
/** Assertions in a tree. */
export const maxAssertions = 50;
/** Patterns in a tree: they share the time that one check may search for. */
export const maxPatterns = 8;

const scalar = lazily(() => z.union([z.string().max(1024), z.number(), z.boolean(), z.null()]));
/** A value to compare with. */
export type Scalar = z.infer<ReturnType<typeof scalar>>;

/** A node of a tree as it is stored: `all`, `any`, or one assertion. */
export type AssertionNode = {
  readonly all?: readonly AssertionNode[] | undefined;
  readonly any?: readonly AssertionNode[] | undefined;
  readonly subject?: Subject | undefined;
  readonly name?: string | undefined;
  readonly comparison?: Comparison | undefined;
  readonly value?: Scalar | readonly Scalar[] | undefined;
  readonly ignore_case?: boolean | undefined;
  readonly severity?: Severity | undefined;
};

const named: ReadonlySet<Subject> = new Set(['phase', 'header', 'json', 'details']);
const phases = ['dns', 'connect', 'tls', 'first_byte', 'transfer'];
const texts: ReadonlySet<Comparison> = new Set(['contains', 'not_contains', 'matches', 'not_matches']);
const orders: ReadonlySet<Comparison> = new Set(['less', 'at_most', 'more', 'at_least']);

/** Levels are written out instead of a recursive schema, so that a hostile input cannot go deeper than a stack reaches. */
function nodeSchema(levels: number): z.ZodType<AssertionNode> {
  const leaf = {
    subject: z.enum(subjectNames).optional(),
    name: z.string().min(1).max(256).optional(),
    comparison: z.enum(comparisons).optional(),
    value: z.union([scalar(), z.array(scalar()).min(1).max(maxAssertions)]).optional(),
    ignore_case: z.boolean().optional(),
    severity: z.enum(severities).optional(),
  };
  if (levels === 1) return z.strictObject(leaf).superRefine(report);
  const children = z
    .array(nodeSchema(levels - 1))
    .min(1)
    .max(maxAssertions)
    .optional();
  return z.strictObject({ all: children, any: children, ...leaf }).superRefine(report);
}

function report(node: AssertionNode, context: z.RefinementCtx): void {
  const problem = problemOf(node);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem.message, path: problem.path });
}

type Problem = { readonly message: string; readonly path: PropertyKey[] };

/** What is wrong with one node on its own; undefined when nothing is. */
function problemOf(node: AssertionNode): Problem | undefined {
  const { all, any, subject, name, comparison, value, ignore_case: ignoreCase, severity } = node;
  if (all !== undefined || any !== undefined) {
    const alone = [subject, name, comparison, value, ignoreCase, severity].every((each) => each === undefined);
    if (alone && (all === undefined) !== (any === undefined)) return undefined;
    return { message: 'A node is a list in `all`, a list in `any`, or one assertion.', path: [] };
  }
  if (subject === undefined) return { message: 'An assertion needs a subject.', path: ['subject'] };
  if (comparison === undefined) return { message: 'An assertion needs a comparison.', path: ['comparison'] };
  const wrongName = nameProblem(subject, name);
  if (wrongName !== undefined) return { message: wrongName, path: ['name'] };
  const wrongValue = valueProblem(comparison, value);
  return wrongValue === undefined ? undefined : { message: wrongValue, path: ['value'] };
}

function nameProblem(subject: Subject, name: string | undefined): string | undefined {
  if (!named.has(subject)) return name === undefined ? undefined : `The subject ${subject} takes no name.`;
  if (name === undefined) return `The subject ${subject} needs a name: ${subjects[subject]}.`;
  if (subject === 'phase' && !phases.includes(name)) return `A phase is one of ${phases.join(', ')}.`;
  if (subject === 'json') return pathProblem(name);
  return undefined;
}

function valueProblem(comparison: Comparison, value: AssertionNode['value']): string | undefined {
  if (comparison === 'exists' || comparison === 'not_exists')
    return value === undefined ? undefined : `${comparison} takes no value.`;
  if (value === undefined) return `${comparison} needs a value.`;
  if (comparison === 'one_of') return Array.isArray(value) ? undefined : 'one_of needs a list of values.';
  if (typeof value === 'object' && value !== null) return `${comparison} takes one value.`;
  if (texts.has(comparison) && (typeof value !== 'string' || value === '')) return `${comparison} needs a text.`;
  if (orders.has(comparison) && typeof value !== 'number' && typeof value !== 'string')
    return `${comparison} needs a number, or a version as text.`;
  if (orders.has(comparison) && typeof value === 'string' && !/^\d{1,9}(\.\d{1,9}){0,7}$/.test(value))
    return `${comparison} needs a number, or a version such as 8.0.36.`;
  return undefined;
}

/** The single assertions of a tree, in their order. */
export function leavesOf(node: AssertionNode): readonly AssertionNode[] {
  return (node.all ?? node.any)?.flatMap(leavesOf) ?? [node];
}

/** The patterns of a tree, each with where it stands. */
export function patternsIn(
  node: AssertionNode,
  path: readonly PropertyKey[] = [],
): readonly (Pattern & { readonly path: readonly PropertyKey[] })[] {
  for (const list of ['all', 'any'] as const)
    if (node[list] !== undefined)
      return node[list].flatMap((child, index) => patternsIn(child, [...path, list, index]));
  const isPattern = node.comparison === 'matches' || node.comparison === 'not_matches';
  if (!isPattern || typeof node.value !== 'string') return [];
  return [{ pattern: node.value, ignore_case: node.ignore_case ?? false, path: [...path, 'value'] }];
}

/** The setting `assertions`: a tree of at most four levels and fifty assertions, at most eight of which are patterns. */
export const assertionsSchema = lazily(() =>
  nodeSchema(maxDepth).superRefine((tree, context) => {
    const say = (message: string, path: readonly PropertyKey[] = []): void =>
      context.addIssue({ code: 'custom', message, path: [...path] });
    const patterns = patternsIn(tree);
    const isTooLong = leavesOf(tree).length > maxAssertions;
    if (isTooLong) say(`A tree has at most ${maxAssertions} assertions.`);
    if (patterns.length > maxPatterns) say(`A tree has at most ${maxPatterns} patterns.`);
    // Judging takes time for each, so they are counted first.
    if (isTooLong || patterns.length > maxPatterns) return;
    for (const { path, ...pattern } of patterns) {
      const problem = patternProblem(pattern);
      if (problem !== undefined) say(problem, path);
    }
  }),
);
