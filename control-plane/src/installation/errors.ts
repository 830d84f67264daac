/** The installation cannot be used as it is; the message says what is wrong and what to do. Nothing was changed. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}
