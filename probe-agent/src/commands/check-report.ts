import type { CheckOutcome } from '@parallax/checks';
import type { Output } from './output.ts';

/** One step of a run, in milliseconds since its start. */
export type Step = { readonly atMs: number; readonly step: string; readonly detail: string };

/** What is printed about one run. */
export type Report = {
  readonly type: string;
  readonly target: string;
  readonly outcome: CheckOutcome;
  readonly trace: readonly Step[];
};

const colours = { ok: 32, slow: 33, warn: 33, fail: 31, timeout: 31, skipped: 33, probe_error: 35 } as const;
const howToAllow = '--allowed-private-targets CIDR lets checks from here reach a private address';
/** Of the bars, in characters; narrower on narrow terminals. */
const maxBar = 50;
const labelWidth = 12;

/** The report for a person: steps, a waterfall of the phases, evidence, verdict. `columns` bounds the bars; colours only if asked for. */
export function reportLines(report: Report, terminal: Output['terminal']): string[] {
  const { outcome } = report;
  const paint = (code: number, text: string) =>
    terminal?.colours && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
  const width = Math.max(10, Math.min(maxBar, (terminal?.columns ?? 80) - labelWidth - 16));
  const bars = waterfall(outcome, width).map(({ name, ms, bar }) =>
    `  ${name.padEnd(labelWidth)}${ms.padStart(9)} ms  ${paint(36, bar)}`.trimEnd(),
  );
  const facts = evidenceLines(outcome).map(([name, value]) => `  ${paint(2, `${name}:`)} ${value}`);
  const took = `${(outcome.total / 1000).toFixed(outcome.total < 1000 ? 3 : 1)} ms`;
  const verdict = `${paint(colours[outcome.outcome], outcome.outcome)} in ${took}`;
  const why = outcome.message === undefined ? '' : `: ${visible(outcome.message)}`;
  const code = outcome.code === undefined ? '' : ` [${outcome.code}${outcome.source ? `, ${outcome.source}` : ''}]`;
  return [
    `${paint(1, visible(report.target))} (${report.type})`,
    ...report.trace.map(({ step, detail }) => `  ${paint(2, `${step}:`)} ${visible(detail)}`),
    ...(bars.length > 0 ? ['', ...bars] : []),
    ...(facts.length > 0 ? ['', ...facts] : []),
    '',
    `${verdict}${why}${paint(2, code)}`,
    ...(outcome.code === 'address_denied' ? [`-> ${howToAllow}`] : []),
  ];
}

/** Phases one after the other, each as long as it took of the whole; what lies between and behind them is `other`. */
function waterfall(
  outcome: CheckOutcome,
  width: number,
): readonly { readonly name: string; readonly ms: string; readonly bar: string }[] {
  const phases = (['dns', 'connect', 'tls', 'first_byte', 'transfer'] as const).flatMap((name) => {
    const us = outcome.phases[name];
    return us === undefined ? [] : [{ name, us }];
  });
  const measuredUs = phases.reduce((sum, { us }) => sum + us, 0);
  // Where the total is something else than the whole time, such as the mean of pings, the phases are not parts of it.
  const otherUs = outcome.total - measuredUs;
  const parts =
    phases.length > 0 && otherUs > outcome.total / 20 ? [...phases, { name: 'other', us: otherUs }] : phases;
  const wholeUs = Math.max(
    1,
    parts.reduce((sum, { us }) => sum + us, 0),
  );
  let beforeUs = 0;
  return parts.map(({ name, us }) => {
    const from = Math.round((beforeUs / wholeUs) * width);
    beforeUs += us;
    const length = Math.round((beforeUs / wholeUs) * width) - from;
    return { name, ms: (us / 1000).toFixed(1), bar: `${' '.repeat(from)}${length > 0 ? '█'.repeat(length) : '▏'}` };
  });
}

function evidenceLines({ evidence = {} }: CheckOutcome): (readonly [string, string])[] {
  const { certificate } = evidence;
  const lines: (readonly [string, string | undefined])[] = [
    [
      'address',
      evidence.address && `${evidence.address}${evidence.port === undefined ? '' : ` port ${evidence.port}`}`,
    ],
    ['status', evidence.status === undefined ? undefined : `${evidence.status} ${evidence.status_text ?? ''}`.trim()],
    ['final url', evidence.final_url],
    [
      'certificate',
      certificate &&
        `${certificate.subject}, by ${certificate.issuer}, until ${certificate.not_after} (${certificate.days_left} days)`,
    ],
    ['answers', evidence.answers && evidence.answers.slice(0, 20).join(' | ')],
    ...Object.entries(evidence.details ?? {}).map(
      ([name, value]) => [name.replaceAll('_', ' '), String(value)] as const,
    ),
  ];
  return lines.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, visible(value)] as const],
  );
}

/** What a target says must not steer the terminal. */
function visible(text: string): string {
  return text.replace(/\p{Cc}|\p{Cf}/gu, ' ').slice(0, 1000);
}
