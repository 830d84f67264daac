/**
 * The proper spelling of an IANA time zone that both Intl and the database know; undefined for anything else. Names are compared without
 * regard to case, as both do; offsets, POSIX rules and abbreviations are no names.
 * @param known names that the database knows, by their lower case
 */
export function knownTimezone(text: string, known: ReadonlyMap<string, string>): string | undefined {
  const name = known.get(text.toLowerCase());
  if (name === undefined) return undefined;
  try {
    // Throws for a zone that it does not know.
    return Intl.DateTimeFormat('en', { timeZone: name }) && name;
  } catch {
    return undefined;
  }
}
