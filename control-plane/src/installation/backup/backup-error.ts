import { ExplainedError } from '../../platform/explained-error.ts';

/** A backup cannot be made, read or restored; the message says what is wrong and what to do. Nothing was changed. */
export class BackupError extends ExplainedError {
  override readonly name = 'BackupError';
}
