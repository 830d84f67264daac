/** A stretch of time and how many results of it are listed. */
export type Stretch = { readonly fromUs: number; readonly toUs: number; readonly count: number };

/** Where a page lies. */
export type Place<Of extends Stretch> = {
  /** The stretches that hold its results, newest first; none when it lies beyond the last result. */
  readonly stretches: readonly Of[];
  /** Results of the first stretch that are newer than the page. */
  readonly skip: number;
};

/** The stretches that hold the results from an offset on. @param stretches newest first */
export function locate<Of extends Stretch>(stretches: readonly Of[], offset: number, size: number): Place<Of> {
  const found: Of[] = [];
  let skip = 0;
  let before = 0;
  for (const stretch of stretches) {
    const after = before + stretch.count;
    if (stretch.count > 0 && after > offset && before < offset + size) {
      if (found.length === 0) skip = offset - before;
      found.push(stretch);
    }
    before = after;
  }
  return { stretches: found, skip };
}

export function totalOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { count }) => sum + count, 0);
}
