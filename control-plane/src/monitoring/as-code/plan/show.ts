import type { Difference } from './difference.ts';
import { sizeOf, stepsOf } from './plan.ts';
import type { Plan } from './plan.ts';

/** A value may be a page of text; the plan is to be read. */
const longestValue = 200;

/** A plan for people: `+` is new, `~` changed, `-` removed. Values of secrets are not in it. */
export function showPlan(plan: Plan): string {
  const lines = stepsOf(plan).flatMap((step): readonly string[] => {
    switch (step.kind) {
      case 'monitor':
        return written('monitor', step.write);
      case 'group':
        return written('monitor group', step.write);
      case 'monitor removed':
        return [`- monitor ${quoted(step.removed.name)}, with its results`];
      case 'group removed':
        return [`- monitor group ${quoted(step.removed.name)}`];
    }
  });
  if (plan.secretsLeft > 0) {
    lines.push(`secrets that are set and were not compared: ${plan.secretsLeft}; --secrets sends them anew`);
  }
  const writes = [...plan.monitors, ...plan.groups];
  const created = writes.filter(({ current }) => current === undefined).length;
  const removed = plan.removedMonitors.length + plan.removedGroups.length;
  lines.push(
    sizeOf(plan) === 0
      ? `nothing to do: ${plan.unchanged} unchanged`
      : `to create: ${created}, to change: ${writes.length - created}, to remove: ${removed}, unchanged: ${plan.unchanged}`,
  );
  return lines.join('\n');
}

/** One line for each field. */
export function showDifferences(differences: readonly Difference[], isNew = false): readonly string[] {
  return differences.map((difference) => {
    const field = printable(difference.field);
    if ('secret' in difference) return `    ${field}: ${secretTexts[difference.secret]}`;
    const after = shown(difference.after);
    return `    ${field}: ${isNew ? after : `${shown(difference.before)} -> ${after}`}`;
  });
}

const secretTexts = {
  set: '(secret) is set',
  replaced: '(secret) is sent anew',
  dropped: '(secret) is dropped: it does not follow to another destination',
} as const;

function written(
  what: string,
  write: { readonly name: string; readonly current: unknown; readonly differences: readonly Difference[] },
): readonly string[] {
  const isNew = write.current === undefined;
  return [`${isNew ? '+' : '~'} ${what} ${quoted(write.name)}`, ...showDifferences(write.differences, isNew)];
}

const quoted = (text: string): string => printable(JSON.stringify(text));

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '(default)';
  return printable(text === 'null' ? '(none)' : text.length > longestValue ? `${text.slice(0, longestValue)}…` : text);
}

/** A text of somebody else must not steer the terminal; JSON leaves C1, bidirectional and other invisible characters as they are. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}
