let scratch = new Float64Array(256);

/** The number in the middle of the first `count` numbers (the upper one of two); they stay as they are. `count` is at least 1. */
export function medianOf(numbers: Float64Array, count: number): number {
  if (scratch.length < count) scratch = new Float64Array(count * 2);
  const own = scratch;
  for (let at = 0; at < count; at += 1) own[at] = numbers[at] ?? 0;
  const wanted = count >>> 1;
  let low = 0;
  let high = count - 1;
  // Hoare's selection; the pivot from the middle, so that ascending numbers are no bad case.
  while (low < high) {
    const pivot = own[(low + high) >>> 1] ?? 0;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((own[left] ?? 0) < pivot) left += 1;
      while ((own[right] ?? 0) > pivot) right -= 1;
      if (left > right) break;
      const moved = own[left] ?? 0;
      own[left] = own[right] ?? 0;
      own[right] = moved;
      left += 1;
      right -= 1;
    }
    if (wanted <= right) high = right;
    else if (wanted >= left) low = left;
    else break;
  }
  return own[wanted] ?? 0;
}
