/** The known name with the fewest edits (insert, delete, replace, swap of neighbours), or undefined when none is at all alike. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const edits = editDistance(name, candidate);
    if (best === undefined || edits < best.edits) best = { name: candidate, edits };
  }
  return best !== undefined && best.edits <= Math.max(2, Math.floor(name.length / 4)) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let twoBack: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let edits = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) edits = Math.min(edits, (twoBack[column - 2] ?? 0) + 1);
      current.push(edits);
    }
    twoBack = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
