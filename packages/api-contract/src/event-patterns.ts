/** Whether one of the patterns names a type: `*` all, `monitor.*` those of a kind, else the type itself. */
export function matchesEventPattern(patterns: readonly string[], type: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === '*' ||
      pattern === type ||
      (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)) && type.length > pattern.length - 1),
  );
}
