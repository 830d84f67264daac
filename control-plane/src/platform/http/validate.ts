import { Problem } from '@parallax/api-contract';
import type { InputError, RouteContract } from '@parallax/api-contract';
import type { z } from 'zod';
import { jsonPointer } from './json-text.ts';

/** The parts of a request that a contract describes, as they came. */
export type RawInput = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

// One answer lists at most this many faults, so that a large body of nonsense does not come back larger.
const maxErrors = 100;

/**
 * Validates path, query and body by the contract, all three before anything is answered.
 * @returns the values with defaults applied
 * @throws Problem `invalid_input` that lists each thing that is wrong
 */
export function validateInput(contract: RouteContract, raw: RawInput): RawInput {
  const errors: InputError[] = [];
  const params = contract.params === undefined ? undefined : parsePart('path', contract.params, raw.params, errors);
  const query = contract.query === undefined ? undefined : parsePart('query', contract.query, raw.query, errors);
  const body = parseBody(contract, raw.body, errors);
  const first = errors[0];
  if (first !== undefined) {
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    const place = first.path === '' ? first.in : `${first.in} ${first.path}`;
    throw new Problem('invalid_input', `${place}: ${first.message}${more}`, { errors: errors.slice(0, maxErrors) });
  }
  return { params, query, body };
}

function parseBody(contract: RouteContract, body: unknown, errors: InputError[]): unknown {
  if (contract.file !== undefined || contract.bytes !== undefined) return undefined;
  return contract.body === undefined ? refuseBody(body, errors) : parsePart('body', contract.body, body, errors);
}

function parsePart(where: InputError['in'], schema: z.ZodType, value: unknown, errors: InputError[]): unknown {
  if (where !== 'body') refuseUnstorableText(where, value, errors);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const path = where === 'body' ? jsonPointer(issue.path) : String(issue.path[0] ?? '');
    if (where === 'body' && issue.code === 'unrecognized_keys') {
      // Each by its own place: the issue itself stands at the object around them.
      for (const key of issue.keys.slice(0, maxErrors)) {
        const message = 'there is no such field';
        errors.push({ in: where, path: jsonPointer([...issue.path, key.slice(0, 200)]), code: issue.code, message });
      }
      continue;
    }
    const isAbsent = where === 'body' && issue.path.length === 0 && value === undefined;
    errors.push({ in: where, path, code: issue.code, message: isAbsent ? 'a JSON body is required' : issue.message });
  }
  return undefined;
}

/** PostgreSQL stores no NUL; bodies are judged when they are read. */
function refuseUnstorableText(where: 'path' | 'query' | 'header', values: unknown, errors: InputError[]): void {
  if (typeof values !== 'object' || values === null) return;
  for (const [name, value] of Object.entries(values)) {
    for (const text of [name, value].flat()) {
      if (typeof text !== 'string' || !text.includes('\u0000')) continue;
      errors.push({
        in: where,
        path: name.replaceAll('\u0000', '').slice(0, 100),
        code: 'nul_character',
        message: 'NUL is not allowed',
      });
    }
  }
}

/** A route without a body takes none, an empty one, `null` or `{}`. */
function refuseBody(body: unknown, errors: InputError[]): undefined {
  const isNothing =
    body === undefined ||
    body === null ||
    (typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0);
  if (!isNothing) errors.push({ in: 'body', path: '', code: 'unexpected_body', message: 'this route takes no body' });
  return undefined;
}
