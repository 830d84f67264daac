import { ExplainedError } from '../platform/explained-error.ts';

/** A command was given something that it cannot work with, or finds something that a person has to change first. */
export class UsageError extends ExplainedError {
  override readonly name = 'UsageError';
}
