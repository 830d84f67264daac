/** An axis from zero. */
export type Scale = { readonly max: number; readonly ticks: readonly number[] };

const maxSteps = 5;

/** An axis that holds all values, in few whole steps that are easy to read. @param value the largest one */
export function scaleTo(value: number): Scale {
  const wanted = Math.max(1, Math.ceil(value));
  const size = stepOf(wanted);
  const count = Math.ceil(wanted / size);
  return { max: count * size, ticks: Array.from({ length: count + 1 }, (_, index) => index * size) };
}

function stepOf(wanted: number): number {
  for (let power = 1; ; power *= 10) {
    for (const part of [1, 2, 2.5, 5]) {
      const size = part * power;
      if (Number.isInteger(size) && wanted <= size * maxSteps) return size;
    }
  }
}
