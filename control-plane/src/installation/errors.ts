import { ExplainedError } from '../platform/explained-error.ts';

/** The installation cannot be used as it is; the message says what is wrong and what to do. Nothing was changed. */
export class InstallationError extends ExplainedError {
  override readonly name = 'InstallationError';
}
