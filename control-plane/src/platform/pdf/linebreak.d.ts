declare module 'linebreak' {
  /** Finds where a line of text may end (UAX #14). */
  export default class LineBreaker {
    constructor(text: string);
    /** The next place, in UTF-16 units; null at the end. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null;
  }
}
