/**
 * Per cent of a share, cut after four decimals and never rounded up: what lost a moment does not read 100.
 * @param share 0 to 1; null for null
 */
export function percentOf(share: number | null): number | null {
  // What a binary fraction is short of its decimal is given back: 0.29 is 29, not 28.9999. A millisecond of 400 days is 30 times as much.
  return share === null ? null : Math.floor(share * 1e6 + 1e-6) / 1e4;
}

/** A figure with at most four decimals; null for null. */
export function fourDecimals<Figure extends number | null>(figure: Figure): Figure {
  return (figure === null ? null : Math.round(figure * 1e4) / 1e4) as Figure;
}
