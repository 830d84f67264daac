/** How well something of this machine does: `warn` leaves out some checks or makes them worse, `fail` keeps the agent from its work. */
export type Level = 'ok' | 'warn' | 'fail';

/** What was found of one thing, and how to mend it: a command or a sentence, empty where nothing is wrong. */
export type Finding = {
  readonly name: string;
  readonly level: Level;
  readonly detail: string;
  readonly remedy: string;
};

export function fine(name: string, detail: string): Finding {
  return { name, level: 'ok', detail, remedy: '' };
}
