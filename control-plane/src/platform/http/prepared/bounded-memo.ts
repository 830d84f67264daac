/** A key that is longer is worked out anew each time: whoever chooses keys must not choose how much is remembered. */
const mostKeyCharacters = 300;

/**
 * Remembers what a function says of texts.
 * @param most when so many are remembered, all are forgotten
 */
export function boundedMemo<Result>(most: number, of: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, { readonly result: Result }>();
  return (text) => {
    const there = known.get(text);
    if (there !== undefined) return there.result;
    const result = of(text);
    if (text.length > mostKeyCharacters) return result;
    if (known.size >= most) known.clear();
    known.set(text, { result });
    return result;
  };
}
