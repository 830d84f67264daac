import type { Message } from '../../../messages/index.ts';

/** What a service that keeps alarms is asked to do; the alarm itself is named by the message's `subjectKey`. */
export type AlarmAction = 'open' | 'acknowledge' | 'close';

/**
 * What a message means for an alarm. What is not over opens it: services know by the key that it is open already. What only informs opens one too, of
 * the lowest level: nothing else of such a service reaches people.
 */
export function actionOf({ kind, state }: Pick<Message, 'kind' | 'state'>): AlarmAction {
  // What a person removed is closed, though what it is about may fail still.
  if (state === 'recovered' || kind === 'resolved') return 'close';
  return state === 'problem' && kind === 'acknowledged' ? 'acknowledge' : 'open';
}

/** How loud an alarm is, in the four words that most services have in one form or another. */
export type AlarmLevel = 'critical' | 'error' | 'warning' | 'info';

/** The level of a message: what only informs is never louder than `info`. */
export function levelOf({ state, severity }: Pick<Message, 'state' | 'severity'>): AlarmLevel {
  if (state === 'information') return 'info';
  return ({ critical: 'critical', major: 'error', minor: 'warning' } as const)[severity];
}

/** The page of what a message is about; undefined where there is none. */
export function pageOf({ links }: Pick<Message, 'links'>): string | undefined {
  return links.find(({ purpose }) => purpose === 'open')?.url;
}

/** What an alarm is about, by name: the one subject, or the workspace where there are several or none. */
export function sourceOf({
  subjects,
  subjectCount,
  workspace,
}: Pick<Message, 'subjects' | 'subjectCount' | 'workspace'>): string {
  const [only] = subjects;
  return subjectCount === 1 && only !== undefined ? only.name : workspace.name;
}
