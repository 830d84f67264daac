import type { Hop, RequestSettings } from '../http/request.ts';
import { basicCredentials } from '../http/secrets.ts';
import { readUrl } from '../http/target.ts';
import { originOf, partsOf } from './destinations.ts';
import type { Step } from './settings.ts';
import {
  asHeader,
  asItIs,
  asJsonText,
  asUrlComponent,
  fill,
  fillValue,
  TemplateError,
  type Value,
  type Values,
} from './templates.ts';

/** Largest body that templates may fill up to, in characters. */
const maxBodyCharacters = 1024 * 1024;
const schemes = ['http:', 'https:'];

/** What a step asks for, with its templates filled in. */
export type WrittenStep = {
  readonly hop: Hop;
  readonly request: RequestSettings;
  /** Credentials that were put together and so are spelled like none of the secrets. */
  readonly made: readonly string[];
};

/**
 * Writes the request of a step.
 * @param base the target: what relative URLs belong to
 * @throws TemplateError when a name is unknown or its value cannot stand where it is named
 */
export function writeStep(
  step: Step,
  base: URL,
  variables: Readonly<Record<string, string>>,
  values: Values,
): WrittenStep {
  const url = urlOf(step.url, base, variables, values);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(step.headers)) headers[name] = fill(value, values, asHeader);
  const made: string[] = [];
  const credentials = authorizationOf(step, values, made);
  const { text, type } = bodyOf(step, headers, values);
  if (text !== undefined && text.length > maxBodyCharacters)
    throw new TemplateError('variable_unusable', 'The body is larger than 1 MiB with its values filled in.');
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const typed = type === undefined || hasType ? headers : { ...headers, 'Content-Type': type };
  return {
    hop: { url, method: step.method, trusted: true, withBody: text !== undefined },
    request: { headers: typed, secret_headers: credentials, ...(text !== undefined && { body: text }) },
    made,
  };
}

function urlOf(text: string, base: URL, variables: Readonly<Record<string, string>>, values: Values): URL {
  const origin = originOf(text, variables) ?? base.origin;
  const rest = fill(partsOf(text).rest, values, asUrlComponent);
  const url = readUrl({ url: `${origin}${rest}` }, 'https', schemes);
  if (typeof url === 'string') throw new TemplateError('variable_unusable', url);
  return url;
}

function authorizationOf({ auth }: Step, values: Values, made: string[]): Readonly<Record<string, string>> {
  if (auth === undefined) return {};
  if (auth.type === 'bearer') return { Authorization: `Bearer ${fill(auth.token, values, asHeader)}` };
  const pair = basicCredentials(fill(auth.username, values, asItIs), fill(auth.password, values, asItIs));
  made.push(pair);
  return { Authorization: `Basic ${pair}` };
}

function bodyOf(
  step: Step,
  headers: Readonly<Record<string, string>>,
  values: Values,
): { readonly text?: string | undefined; readonly type?: string } {
  if (step.json !== undefined) return { text: JSON.stringify(filled(step.json, values)), type: 'application/json' };
  if (step.form !== undefined) {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(step.form)) form.append(name, fill(value, values, asItIs));
    return { text: form.toString(), type: 'application/x-www-form-urlencoded' };
  }
  if (step.body === undefined) return {};
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return { text: fill(step.body, values, /\bjson\b/i.test(type) ? asJsonText : asItIs) };
}

/** JSON with the templates in its texts filled in; names of members are left as they are. */
function filled(json: unknown, values: Values): unknown {
  if (typeof json === 'string') return fillValue(json, values) satisfies Value;
  if (Array.isArray(json)) return json.map((each) => filled(each, values));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, filled(value, values)]));
}
