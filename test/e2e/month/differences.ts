const isPercentile = /(^|\.)p\d\d_ms$/;
/** Percentiles come from buckets of 1 %, and every answer is rounded to a microsecond. */
const bucketError = 0.01;
const roundedMs = 0.0011;

/**
 * Where an answer says something else than it must: a line each, empty when all is as expected. Of objects only the fields that are expected are
 * looked at; percentiles may be 1 % off.
 */
export function differences(found: unknown, expected: unknown, path = ''): string[] {
  if (typeof expected === 'number' && typeof found === 'number') {
    const allowed = isPercentile.test(path)
      ? bucketError * Math.abs(expected) + roundedMs
      : 1e-9 * Math.max(1, Math.abs(expected));
    return Math.abs(found - expected) <= allowed ? [] : [told(found, expected, path)];
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return [told(found, expected, path)];
    const parts = expected.flatMap((item, index) => differences(found[index], item, `${path}[${index}]`));
    return found.length === expected.length
      ? parts
      : [`${path}: ${found.length} instead of ${expected.length}`, ...parts];
  }
  if (isRecord(expected)) {
    if (!isRecord(found)) return [told(found, expected, path)];
    return Object.entries(expected).flatMap(([name, value]) => differences(found[name], value, `${path}.${name}`));
  }
  return Object.is(found, expected) ? [] : [told(found, expected, path)];
}

const told = (found: unknown, expected: unknown, path: string): string =>
  `${path}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
