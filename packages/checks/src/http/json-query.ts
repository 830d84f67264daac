import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { parsePath, pathProblem, valueAt } from '../assertions/json-path.ts';
import { type Failure, failed } from '../net/failure.ts';

/** A value that a body of JSON must have. */
export const jsonQueryField = lazily(() =>
  z.strictObject({
    /** Such as `$.status` or `$.items[0].name`, in the path language of assertions. */
    path: z
      .string()
      .max(500)
      .superRefine((text, context) => {
        const problem = pathProblem(text);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      }),
    /** The value that must stand there, of the same kind: "1" is not 1. Absent: any value will do. */
    equals: z.union([z.string().max(1024), z.number(), z.boolean(), z.null()]).optional(),
  }),
);
export type JsonQuery = z.infer<ReturnType<typeof jsonQueryField>>;

/** What is wrong with a body, or undefined. */
export function judgeJson(text: string, query: JsonQuery): Failure | undefined {
  const path = parsePath(query.path);
  if (typeof path === 'string') throw new Error(`The path was not validated: ${path}`);
  let document: unknown;
  try {
    // Some servers put a byte order mark in front.
    document = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return failed('http_json', 'The body is not JSON.');
  }
  const value = valueAt(document, path);
  if (value === undefined) return failed('response_mismatch', `The body has no value at ${query.path}.`);
  if (query.equals === undefined || value === query.equals) return undefined;
  return failed('response_mismatch', `At ${query.path} stands ${shown(value)}; expected is ${shown(query.equals)}.`);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
