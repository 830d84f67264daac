import type { Documented, ParameterSchema } from './document.ts';
import type { Prepared } from './recipes.ts';

/** The name of a parameter in the document, for a name in any case. */
function documentedHeader({ operation }: Documented, name: string): string | undefined {
  const headers = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header');
  return headers.find((parameter) => parameter.name.toLowerCase() === name.toLowerCase())?.name;
}

/** The values of the parts of a path that have names in the document. */
function pathValues(one: Documented, path: string): Readonly<Record<string, Value>> {
  const given = path.split('/').map((part) => decodeURIComponent(part));
  const names = one.path.split('/').flatMap((part, index) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, given[index] ?? ''] as const];
  });
  return Object.fromEntries(names.map(([name, text]) => [name, typed(one, 'path', name, text)]));
}

/** A text as the type that the document gives the parameter. */
function typed(one: Documented, place: string, name: string, text: string): Value {
  const parameter = (one.operation.parameters ?? []).find((each) => each.in === place && each.name === name);
  if (parameter === undefined) throw new Error(`${one.name} has no parameter ${name} in its ${place}`);
  if (parameter.schema.type === 'boolean') return text === 'true';
  return parameter.schema.type === 'integer' || parameter.schema.type === 'number' ? Number(text) : text;
}

type Value = string | number | boolean;

/** What a call is made of: the values of its parameters, each of the type that the document gives it, and the headers that the document does not name. */
export type CallParts = {
  readonly path: Readonly<Record<string, Value>>;
  readonly query: Readonly<Record<string, Value>>;
  readonly header: Readonly<Record<string, string>>;
  readonly otherHeaders: Readonly<Record<string, string>>;
};

export function partsOf(one: Documented, prepared: Prepared): CallParts {
  const { pathname, searchParams } = new URL(prepared.path, 'http://localhost');
  const headers = Object.entries(prepared.headers ?? {});
  const header = headers.flatMap(([name, value]) => {
    const named = documentedHeader(one, name);
    return named === undefined ? [] : [[named, value] as const];
  });
  return {
    path: pathValues(one, pathname),
    query: Object.fromEntries([...searchParams].map(([name, text]) => [name, typed(one, 'query', name, text)])),
    header: Object.fromEntries(header),
    otherHeaders: Object.fromEntries(headers.filter(([name]) => documentedHeader(one, name) === undefined)),
  };
}

/**
 * The source text of a call of an operation through `client(token)`, a client that is generated from the document: every value is a literal, so that the
 * compiler holds each against the document.
 */
export function callText(one: Documented, prepared: Prepared): string {
  const { otherHeaders: headers, ...params } = partsOf(one, prepared);
  const body = takesFile(one) && prepared.body !== undefined ? textOf(prepared.body) : prepared.body;
  const init = {
    ...withoutEmpty({ params: withoutEmpty(params), headers }),
    ...(body === undefined ? {} : { body }),
  };
  const parts = Object.entries(init).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  if (typeof body === 'string') parts.push('bodySerializer: (text) => text');
  if (isStream(one)) parts.push("parseAs: 'stream'");
  else if (!answersJson(one)) parts.push("parseAs: 'text'");
  const method = one.name.split(' ')[0] ?? '';
  const token = prepared.token === undefined ? 'token' : JSON.stringify(prepared.token);
  const given = parts.length === 0 ? '' : `, { ${parts.join(', ')} }`;
  return `client(${token}).${method}(${JSON.stringify(one.path)}${given})`;
}

/** Whether the operation takes a file, or keeps whatever it is sent, such as a ping of a job: the document knows it as bytes. */
function takesFile({ operation }: Documented): boolean {
  const schemas = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema as ParameterSchema);
  return schemas.some(({ format }) => format === 'binary');
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function withoutEmpty(fields: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));
}

/** Whether it tells what happens for as long as somebody listens. */
export function isStream({ operation }: Documented): boolean {
  const types = Object.values(operation.responses).flatMap(({ content }) => Object.keys(content ?? {}));
  return types.some((type) => type.startsWith('text/event-stream'));
}

/** Whether every success is JSON or has no body: some answer text unless JSON is asked for. */
function answersJson({ operation }: Documented): boolean {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return successes.every(([, { content }]) => Object.keys(content ?? {}).every((type) => /[/+]json\b/.test(type)));
}
