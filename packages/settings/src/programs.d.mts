/**
 * The folders in which programs are looked for: those of the `PATH`, then the system's own, since the `PATH` of an ordinary user has no
 * `/usr/sbin`. A `PATH` that names none of the system's folders counts alone: whoever sets one means what it leaves out.
 */
export function programFolders(env?: Readonly<Record<string, string | undefined>>): readonly string[];

/** The full path of a program, or undefined if it is not installed. `folders` replaces `programFolders()`. */
export function findProgram(name: string, folders?: readonly string[]): string | undefined;

/** Whether this process may execute the file. */
export function isProgram(file: string): boolean;
