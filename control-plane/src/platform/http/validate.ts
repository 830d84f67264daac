import type { InputError, RouteContract } from '@parallax/api-contract';
import type { z } from 'zod';
import { bodyErrors, refusedInput } from './input-errors.ts';
import { jsonPointer } from './json-text.ts';

/** The parts of a request that a contract describes, as they came. */
export type RawInput = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

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
  if (errors.length > 0) throw refusedInput(errors);
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
  // One by one: there may be more than a call takes arguments.
  for (const error of faults(where, value, parsed.error.issues)) errors.push(error);
  return undefined;
}

function faults(where: InputError['in'], value: unknown, issues: readonly z.core.$ZodIssue[]): readonly InputError[] {
  if (where !== 'body') {
    return issues.map(({ path, code, message }) => ({ in: where, path: jsonPointer(path.slice(0, 1)), code, message }));
  }
  if (value !== undefined) return bodyErrors(issues);
  return [{ in: where, path: '', code: issues[0]?.code ?? 'invalid_type', message: 'a JSON body is required' }];
}

/** PostgreSQL stores no NUL; bodies are judged when they are read. */
function refuseUnstorableText(where: 'path' | 'query' | 'header', values: unknown, errors: InputError[]): void {
  if (typeof values !== 'object' || values === null) return;
  for (const [name, value] of Object.entries(values)) {
    for (const text of [name, value].flat()) {
      if (typeof text !== 'string' || !text.includes('\u0000')) continue;
      errors.push({
        in: where,
        path: jsonPointer([name.replaceAll('\u0000', '')]),
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
