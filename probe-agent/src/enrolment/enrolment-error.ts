/** Something that a person has to mend; the message says what and how. */
export class EnrolmentError extends Error {
  /** The same call may work later without anybody doing anything: the control plane is away, or has too much to do. */
  readonly isTemporary: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isTemporary?: boolean } = {}) {
    super(message, options);
    this.isTemporary = options.isTemporary ?? false;
  }
}
