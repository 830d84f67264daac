import type { MailFacts } from './mail-facts.ts';

/** The mail as plain text: the same facts in the same order. */
export function mailText(facts: MailFacts): string {
  const { words } = facts;
  const blocks = [
    [facts.kicker, facts.title, facts.period],
    facts.figures.map(([label, value]) => `${label}: ${value}`),
    ...(facts.target === null ? [] : [[facts.target]]),
    [
      `${words.subjects}:`,
      ...(facts.subjects.length === 0
        ? [words.noSubjects]
        : facts.subjects.map(
            ({ name, uptime, before }) => `- ${name}: ${uptime}${before === null ? '' : ` (${before})`}`,
          )),
      ...(facts.more === null ? [] : [facts.more]),
    ],
    [
      `${words.longest}:`,
      ...(facts.outages.length === 0
        ? [words.noOutages]
        : facts.outages.map(({ subject, when, downtime, cause }) =>
            [`- ${subject}: ${downtime}`, when, ...(cause === null ? [] : [cause])].join(', '),
          )),
    ],
    ...(facts.latencies.length === 0
      ? []
      : [[`${words.response}:`, ...facts.latencies.map(({ subject, figures }) => `- ${subject}: ${figures}`)]]),
    facts.notes,
    [facts.why, `${words.unsubscribe}:`, facts.unsubscribeUrl],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
