/**
 * Tells the runner that a fault which a test planted was noticed. The runner compares the names with `test/runner/caught.json`, so that a test
 * which loses its power fails the run.
 * @param isNoticed the answer of the assertion
 */
export function caught(t: { comment(text: string): unknown }, isNoticed: boolean, name: string): void {
  if (isNoticed) t.comment(`caught: ${name}`);
}
