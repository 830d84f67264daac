import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { patternProblem } from '../http/keyword.ts';

const pattern = lazily(() =>
  z
    .strictObject({
      /** RE2 syntax. */
      pattern: z.string().min(1).max(256),
      ignore_case: z.boolean().default(false),
    })
    .superRefine((value, context) => {
      const problem = patternProblem(value);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, path: ['pattern'] });
    }),
);

/** What the first value of a result has to be. */
export const valueShape = lazily(() => ({
  /** The value as text, exactly. */
  expected_value: z.string().max(4096).optional(),
  /** A pattern that must occur in the value. */
  expected_pattern: pattern().optional(),
}));
