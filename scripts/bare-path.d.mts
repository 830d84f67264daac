/** Names of the programs that every test may use. */
export const plainPrograms: ReadonlySet<string>;
/** A PATH on which only the plain programs are found; `remove` takes its folder away. */
export function barePath(): { readonly PATH: string; readonly remove: () => void };
