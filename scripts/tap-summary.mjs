// Turns TAP into one line for each test file, the whole of what failed, and the totals.

/** Feeds on chunks of TAP; `write` gets the lines for a person. */
export function createSummary(write) {
  let rest = '';
  /** What the present file has printed so far. */
  let lines = [];
  let isTotalled = false;

  function line(text) {
    const file = /^(not )?ok \d+ - (\S+)(?:.*# time=([\d.]+)ms)?/.exec(text);
    if (file !== null) {
      const [, isFailed, name, ms] = file;
      const seconds = ms === undefined ? '' : `${(Number(ms) / 1000).toFixed(1).padStart(6)} s`;
      write(`${isFailed ? 'FAIL' : 'ok  '} ${seconds}  ${name}`);
      if (isFailed) for (const failed of failures(lines)) write(`     ${failed}`);
      lines = [];
    } else if (/^(# \{ |# time|Bail out!)/.test(text)) {
      isTotalled ||= text.startsWith('# {');
      write(text);
    } else if (!/^(TAP version|1\.\.\d|# Subtest|# No coverage|\s*$)/.test(text)) lines.push(text);
  }

  return {
    add: (chunk) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) line(part);
    },
    end: () => {
      if (rest !== '') line(rest);
      // A run that was cut off leaves what it had said.
      if (!isTotalled) for (const left of lines.slice(-40)) write(`     ${left}`);
    },
  };
}

/** The failing assertions with their diagnostics, and what was printed outside of TAP. */
function failures(lines) {
  const kept = [];
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
    } else if (!/^\s*(#|\d+\.\.\d+)/.test(text)) {
      kept.push(text);
    }
  }
  return kept.slice(0, 200);
}

/** One line about the programs that tests did not find on this machine. */
export function missingServersLine(programs) {
  const count = `real servers missing: ${programs.length}`;
  return programs.length === 0
    ? count
    : `${count}; what needs these was not tried: ${[...programs].sort((a, b) => a.localeCompare(b)).join(', ')}`;
}
