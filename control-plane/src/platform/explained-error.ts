/** An error whose message says what is wrong and what to do, so that commands print it without a stack. */
export class ExplainedError extends Error {}
