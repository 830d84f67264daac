/** Lines of a file's TAP that a person needs of a failure: failing assertions with their diagnostics, and what was printed outside of TAP. */
export function failures(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let isDiagnostic = false;
  let isFailing = false;
  for (const text of lines) {
    if (isDiagnostic) {
      if (isFailing) kept.push(text);
      if (/^\s*\.\.\.$/.test(text)) isDiagnostic = false;
    } else if (/^\s*---$/.test(text)) {
      isDiagnostic = true;
      if (isFailing) kept.push(text);
    } else if (/^\s*not ok \d/.test(text)) {
      isFailing = true;
      kept.push(text);
    } else if (/^\s*ok \d/.test(text)) {
      isFailing = false;
    } else if (!/^\s*(#|\d+\.\.\d+|TAP version \d+$|$)/.test(text)) {
      kept.push(text);
    }
  }
  return kept.slice(0, maxLines);
}

const maxLines = 200;
