import { at } from './syntax.ts';
import type { Syntax } from './syntax.ts';

/** A change of a stretch of the source within a node that can be run in two ways. */
export type Change = {
  readonly operator: string;
  /** What is replaced, whole, by a choice between what is there and what is there changed. */
  readonly site: Syntax;
  readonly start: number;
  readonly end: number;
  readonly after: string;
};

const comparisons = new Map<string, readonly string[]>(
  Object.entries({
    '<': ['<=', '>='],
    '<=': ['<', '>'],
    '>': ['>=', '<='],
    '>=': ['>', '<'],
    '===': ['!=='],
    '!==': ['==='],
    '==': ['!='],
    '!=': ['=='],
  }),
);
const arithmetic = new Map(
  Object.entries({
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
    '<<': '>>',
    '>>': '<<',
    '>>>': '<<',
    '&': '|',
    '|': '&',
    '^': '&',
  }),
);
const assignments = new Map(Object.entries({ '+=': '-=', '-=': '+=', '*=': '/=', '|=': '&=', '&=': '|=' }));
const mathFunctions = new Map(Object.entries({ min: 'max', max: 'min', floor: 'ceil', ceil: 'floor', round: 'floor' }));
/** Methods that are replaced by another of the same form. */
const otherMethods = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    find: 'findLast',
    findLast: 'find',
    findIndex: 'findLastIndex',
    findLastIndex: 'findIndex',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    indexOf: 'lastIndexOf',
    lastIndexOf: 'indexOf',
  }),
);
/** Methods that are left out: what they are asked of is the answer. */
const leftOut = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice']);

/** Every change that the operators make of one node. @param source as `bytesOf` gives it */
export function changesOf(node: Syntax, source: string): Change[] {
  if (isText(node)) return [];
  const changes = operatorsOf(node.type)?.(node, source) ?? [];
  return [...changes, ...conditionsOf(node)].flatMap((change) => {
    const site = change.site.type.endsWith('Statement') ? change.site : chainOf(change.site);
    return site === undefined ? [] : [{ ...change, site }];
  });
}

function operatorsOf(type: string): ((node: Syntax, source: string) => Change[]) | undefined {
  switch (type) {
    case 'BinaryExpression':
      return ofBinary;
    case 'UnaryExpression':
      return ofUnary;
    case 'UpdateExpression':
      return ofUpdate;
    case 'AssignmentExpression':
      return ofAssignment;
    case 'CallExpression':
      return ofCall;
    case 'OptionalChainingExpression':
      return ofOptionalChain;
    case 'NumericLiteral':
    case 'BooleanLiteral':
    case 'StringLiteral':
    case 'TemplateLiteral':
      return ofLiteral;
    case 'ArrayExpression':
      return (node) => (node.children.length === 0 ? [] : [whole(node, 'list emptied', '[]')]);
    case 'ReturnStatement':
      return (node) => returned(at(node, 'argument'), node);
    case 'ArrowFunctionExpression':
      return (node) => returned(at(node, 'body'));
    case 'ExpressionStatement':
    case 'ContinueStatement':
    case 'BreakStatement':
    case 'ThrowStatement':
      return ofStatement;
    default:
      return undefined;
  }
}

const whole = (site: Syntax, operator: string, after: string): Change => ({
  operator,
  site,
  start: site.start,
  end: site.end,
  after,
});

function ofBinary(node: Syntax, source: string): Change[] {
  const [left, right] = [at(node, 'left'), at(node, 'right')];
  const operator = String(node.values.get('operator'));
  if (left === undefined || right === undefined) return [];
  const start = source.indexOf(operator, left.end);
  const replaced = (name: string, after: string): Change => ({
    operator: name,
    site: node,
    start,
    end: start + operator.length,
    after,
  });
  if (operator === '&&') return [replaced('logic', '||')];
  if (operator === '||') return [replaced('logic', '&&')];
  if (operator === '??') {
    const [first, second] = [left, right].map((kept) => source.slice(kept.start, kept.end));
    return [whole(node, isElement(left) ? 'fallback' : 'nullish', first ?? ''), whole(node, 'nullish', second ?? '')];
  }
  const texts = [left, right].some(({ type }) => type === 'StringLiteral' || type === 'TemplateLiteral');
  const other = texts && operator === '+' ? undefined : arithmetic.get(operator);
  return [
    ...(comparisons.get(operator) ?? []).map((after) => replaced('comparison', after)),
    ...(other === undefined ? [] : [replaced('arithmetic', other)]),
  ];
}

function ofUnary(node: Syntax, source: string): Change[] {
  const argument = at(node, 'argument');
  const operator = node.values.get('operator');
  if (argument === undefined || (operator !== '!' && operator !== '-')) return [];
  return [whole(node, operator === '!' ? 'negation' : 'sign', source.slice(argument.start, argument.end))];
}

function ofUpdate(node: Syntax, source: string): Change[] {
  const text = source.slice(node.start, node.end);
  const after = text.includes('++') ? text.replace('++', '--') : text.replace('--', '++');
  return [whole(node, 'arithmetic', after)];
}

function ofAssignment(node: Syntax, source: string): Change[] {
  const [left, right] = [at(node, 'left'), at(node, 'right')];
  const operator = String(node.values.get('operator'));
  const after = assignments.get(operator);
  if (left === undefined || right === undefined) return [];
  if (operator === '??=') {
    const [to, value] = [source.slice(left.start, left.end), source.slice(right.start, right.end)];
    return [whole(node, 'nullish', `${to} = ${value}`)];
  }
  if (after === undefined) return [];
  const start = source.indexOf(operator, left.end);
  return [{ operator: 'arithmetic', site: node, start, end: start + operator.length, after }];
}

function ofCall(node: Syntax, source: string): Change[] {
  const callee = at(node, 'callee');
  if (callee?.type !== 'MemberExpression') return [];
  const [object, property] = [at(callee, 'object'), at(callee, 'property')];
  if (object === undefined || property?.type !== 'Identifier') return [];
  const name = String(property.values.get('value'));
  const isMath = object.values.get('value') === 'Math';
  const renamed = (after: string): Change => ({
    operator: 'method',
    site: node,
    start: property.start,
    end: property.end,
    after,
  });
  const other = (isMath ? mathFunctions : otherMethods).get(name);
  if (other !== undefined) return [renamed(other)];
  return leftOut.has(name) ? [whole(node, 'method', source.slice(object.start, object.end))] : [];
}

function ofOptionalChain(node: Syntax, source: string): Change[] {
  if (node.values.get('optional') !== true) return [];
  const [base] = node.children;
  const link = base === undefined ? undefined : (at(base, 'object') ?? at(base, 'callee'));
  if (link === undefined) return [];
  const start = source.indexOf('?.', link.end);
  const isNamed = /[\w#$]/.test(source[start + 2] ?? '');
  return [{ operator: 'optional chaining', site: node, start, end: start + 2, after: isNamed ? '.' : '' }];
}

function ofLiteral(node: Syntax, source: string): Change[] {
  if (node.field === 'key' || node.field === 'source' || node.parent?.type.startsWith('Import') === true) return [];
  const value = node.values.get('value');
  const beside = node.field === 'right' && node.parent !== undefined ? at(node.parent, 'left') : undefined;
  const isFallback = node.parent?.values.get('operator') === '??' && beside !== undefined && isElement(beside);
  const operator = isFallback ? 'fallback' : 'constant';
  if (typeof value === 'boolean') return [whole(node, operator, String(!value))];
  if (typeof value === 'number') {
    return [value + 1, value - 1].map((other) => whole(node, operator, other < 0 ? `(${other})` : String(other)));
  }
  const isEmpty = source.slice(node.start, node.end).length === 2;
  return [whole(node, 'text', isEmpty ? "'other'" : "''")];
}

/** `list[index]`: what stands beside it for want of an element is often there for the type checker only. */
const isElement = (node: Syntax): boolean =>
  node.type === 'MemberExpression' && at(node, 'property')?.type === 'Computed';

/** A value that is returned, when it is more than a constant. */
function returned(value: Syntax | undefined, statement?: Syntax): Change[] {
  if (value === undefined) return statement === undefined ? [] : [whole(statement, 'statement removed', '')];
  const isPlain = /^(BlockStatement|FunctionBody|NullLiteral|BooleanLiteral)$/.test(value.type);
  return isPlain || value.values.get('value') === 'undefined' ? [] : [whole(value, 'returned value', 'undefined')];
}

function ofStatement(node: Syntax): Change[] {
  const called = at(node, 'expression');
  const callee = called === undefined ? undefined : at(called, 'callee');
  return callee?.type === 'Super' ? [] : [whole(node, 'statement removed', '')];
}

/** What decides whether something is done at all. */
function conditionsOf(node: Syntax): Change[] {
  const test = at(node, 'test');
  if (test === undefined) return [];
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
    return ['true', 'false'].map((after) => whole(test, 'condition', after));
  }
  return /^(While|DoWhile|For)Statement$/.test(node.type) ? [whole(test, 'condition', 'false')] : [];
}

/**
 * The whole chain of `a?.b.c()` that a node is a link of, for a part of one does not stand alone; undefined where it is assigned to.
 */
function chainOf(node: Syntax): Syntax | undefined {
  let top = node;
  let isOptional = node.type === 'OptionalChainingExpression';
  for (let link = node; isLink(link) && link.parent !== undefined; ) {
    link = link.parent;
    isOptional ||= link.type === 'OptionalChainingExpression';
    if (isOptional) top = link;
  }
  const isTarget = top.field === 'left' && top.parent?.type === 'AssignmentExpression';
  return isTarget ? undefined : top;
}

const isLink = ({ field, parent }: Syntax): boolean =>
  (parent?.type === 'MemberExpression' && field === 'object') ||
  (parent?.type === 'CallExpression' && field === 'callee') ||
  (parent?.type === 'OptionalChainingExpression' && field === 'base') ||
  (parent?.type === 'TsNonNullExpression' && field === 'expression');

/** Within the text of an error: people read it, nothing decides by it. */
function isText(node: Syntax): boolean {
  for (let inner = node, outer = node.parent; outer !== undefined; inner = outer, outer = outer.parent) {
    const callee = at(outer, 'callee');
    if (outer.type !== 'NewExpression' || inner === callee) continue;
    if (String(callee?.values.get('value')).endsWith('Error')) return true;
  }
  return false;
}
