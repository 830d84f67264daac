import { parseSync } from '@swc/core';

/** A node of the syntax tree without its types: what runs. */
export type Syntax = {
  readonly type: string;
  /** Offsets in the bytes of the source; half-open. */
  readonly start: number;
  readonly end: number;
  readonly parent: Syntax | undefined;
  /** Name of the parent's field that holds it. */
  readonly field: string;
  readonly children: readonly Syntax[];
  /** Fields that are no nodes: operators, names, values. */
  readonly values: ReadonlyMap<string, unknown>;
};

/** Whatever the parser gives. */
type Raw = { readonly [name: string]: unknown };

/** What stands in the source and is an expression, whatever it says of types beside. */
const typedExpressions = new Set([
  'TsAsExpression',
  'TsNonNullExpression',
  'TsSatisfiesExpression',
  'TsConstAssertion',
]);

/** @param source TypeScript, as text whose characters are its bytes (`bytesOf`) */
export function parse(source: string): Syntax {
  // The parser counts from a number of its own: the semicolon tells which.
  const module = parseSync(`;${textOf(source)}`, { syntax: 'typescript', target: 'esnext' }) as unknown as Raw;
  const first = (module['body'] as Raw[])[0] as { readonly span: { readonly start: number } };
  const [root] = read(module, 'module', undefined, first.span.start + 1);
  if (root === undefined) throw new Error('the parser found nothing');
  return root;
}

export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
export const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** The node of a field; undefined where there is none. */
export const at = (node: Syntax, field: string): Syntax | undefined =>
  node.children.find((child) => child.field === field);

/** All nodes of a tree, outer ones first. */
export function* walk(node: Syntax): Generator<Syntax> {
  yield node;
  for (const child of node.children) yield* walk(child);
}

/** The nodes that a value is or holds. */
function read(raw: unknown, field: string, parent: Syntax | undefined, base: number): Syntax[] {
  if (typeof raw !== 'object' || raw === null) return [];
  if (Array.isArray(raw)) return raw.flatMap((each) => read(each, field, parent, base));
  const { type, span, ...fields } = raw as Raw;
  if (typeof type === 'string' && type.startsWith('Ts') && !typedExpressions.has(type)) return [];
  if (typeof type !== 'string' || span === undefined) {
    return Object.entries(fields).flatMap(([name, value]) => read(value, name, parent, base));
  }
  const { start, end } = span as { readonly start: number; readonly end: number };
  const children: Syntax[] = [];
  const values = new Map<string, unknown>();
  const node: Syntax = { type, start: start - base, end: end - base, parent, field, children, values };
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'object') values.set(name, value);
    else children.push(...read(value, name, node, base));
  }
  return [node];
}
