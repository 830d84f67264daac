import { Problem } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import type { z } from 'zod';
import { jsonPointer } from './json-text.ts';

// One answer lists at most this many faults, so that a large body of nonsense does not come back larger.
const maxErrors = 100;

/**
 * What a schema found wrong with a body, each fault at its own place.
 * @param under where in the body the value stands that the schema judged
 */
export function bodyErrors(issues: readonly z.core.$ZodIssue[], under: readonly PropertyKey[] = []): InputError[] {
  return issues.flatMap((issue): InputError[] => {
    const path = [...under, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      // Each by its own place: the issue itself stands at the object around them.
      return issue.keys.slice(0, maxErrors).map((key) => ({
        in: 'body',
        path: jsonPointer([...path, key.slice(0, 200)]),
        code: issue.code,
        message: 'there is no such field',
      }));
    }
    const isAbsent = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
    const message = isAbsent ? 'is required' : issue.message;
    return [{ in: 'body', path: jsonPointer(path), code: issue.code, message }];
  });
}

/** A 422 that lists each fault and names the first with its place. @param errors at least one */
export function refusedInput(errors: readonly InputError[]): Problem {
  const [first] = errors;
  if (first === undefined) return new Problem('invalid_input', 'the input is not valid');
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const place = first.path === '' ? first.in : `${first.in} ${first.path}`;
  return new Problem('invalid_input', `${place}: ${first.message}${more}`, { errors: errors.slice(0, maxErrors) });
}
