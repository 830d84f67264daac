/** Texts that `writeCsv` puts an apostrophe before, with those that have some already. */
const neutralised = /^'+[=+\-@\t\r\n＝＋－＠]/;

/** A cell as it was before a spreadsheet was kept from taking it for a formula. */
export function withoutNeutraliser(cell: string): string {
  return neutralised.test(cell) ? cell.slice(1) : cell;
}

/** A text as it goes to `writeCsv`, so that `withoutNeutraliser` gives it back: what looks neutralised already is so once more. */
export function beforeNeutraliser(text: string): string {
  return neutralised.test(text) ? `'${text}` : text;
}
