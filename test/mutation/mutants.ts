import { changesOf } from './operators.ts';
import { at, bytesOf, parse, textOf, walk } from './syntax.ts';
import type { Syntax } from './syntax.ts';

/** One change of a file. */
export type Mutant = {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly operator: string;
  /** What stands there, and what stands there instead; one line each. */
  readonly before: string;
  readonly after: string;
  /** The line of the source, without its indentation. */
  readonly text: string;
  /** From 1: of several in the file that are alike so far, in order. */
  readonly nth: number;
};

/** A place that is run in one of several ways: as it is, or as one of its mutants says. Offsets in bytes. */
export type Site = {
  readonly start: number;
  readonly end: number;
  readonly isStatement: boolean;
  readonly mutants: readonly { readonly mutant: Mutant; readonly source: string }[];
};

export type MutatedFile = {
  readonly file: string;
  /** As `bytesOf` gives it. */
  readonly source: string;
  readonly tree: Syntax;
  readonly sites: readonly Site[];
};

/**
 * Every mutant of a file, in the order of the source.
 * @param functions names of the only functions that are changed; absent: all of the file
 */
export function mutate(file: string, text: string, functions?: readonly string[]): MutatedFile {
  const source = bytesOf(text);
  const tree = parse(source);
  const sites = new Map<
    string,
    { start: number; end: number; isStatement: boolean; mutants: Site['mutants'][number][] }
  >();
  const seen = new Set<string>();
  for (const node of nodesOf(tree, functions)) {
    for (const { operator, site, start, end, after } of changesOf(node, source)) {
      const isStatement = site.type.endsWith('Statement');
      const key = `${site.start} ${site.end} ${isStatement}`;
      const changed = source.slice(site.start, start) + after + source.slice(end, site.end);
      if (seen.has(`${key} ${changed}`) || changed === source.slice(site.start, site.end)) continue;
      seen.add(`${key} ${changed}`);
      const place = sites.get(key) ?? { start: site.start, end: site.end, isStatement, mutants: [] };
      place.mutants.push({ mutant: { file, operator, ...told(source, start, end, after), nth: 1 }, source: changed });
      sites.set(key, place);
    }
  }
  const ordered = [...sites.values()].sort((a, b) => a.start - b.start || b.end - a.end || rank(a) - rank(b));
  const counts = new Map<string, number>();
  const numbered = ({ text, before, after }: Mutant): number => {
    const key = `${text} ${before} → ${after}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts.get(key) ?? 1;
  };
  const withNumbers = ordered.map((site) => ({
    ...site,
    mutants: site.mutants.map((each) => ({ ...each, mutant: { ...each.mutant, nth: numbered(each.mutant) } })),
  }));
  return { file, source, tree, sites: withNumbers };
}

export const mutantsOf = ({ sites }: MutatedFile): Mutant[] =>
  sites.flatMap(({ mutants }) => mutants.map(({ mutant }) => mutant));

/** Of a statement and an expression that are equally long the statement is outside. */
const rank = ({ isStatement }: { readonly isStatement: boolean }): number => (isStatement ? 0 : 1);

function* nodesOf(tree: Syntax, functions: readonly string[] | undefined): Generator<Syntax> {
  if (functions === undefined) {
    yield* walk(tree);
    return;
  }
  for (const node of walk(tree)) {
    const name = at(node, 'identifier') ?? at(node, 'id');
    const isNamed = node.type === 'FunctionDeclaration' || node.type === 'VariableDeclarator';
    if (isNamed && functions.includes(String(name?.values.get('value')))) yield* walk(node);
  }
}

function told(source: string, start: number, end: number, after: string) {
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = source.indexOf('\n', start);
  const oneLine = (bytes: string): string => textOf(bytes).replace(/\s+/g, ' ').trim();
  return {
    line: source.slice(0, start).split('\n').length,
    before: oneLine(source.slice(start, end)),
    after: oneLine(after),
    text: oneLine(source.slice(lineStart, lineEnd === -1 ? source.length : lineEnd)),
  };
}
