import { isProtocol, secretFieldsOf } from '@parallax/checks';
import type { Assignment } from '@parallax/wire';

/** So many different settings are kept at most, each as long as this; most monitors of a probe have one of a few. */
const mostKept = 1_000;
const longestText = 1_000;

/**
 * Reads the settings of assignments. Those that are the same for a protocol are one object, since what is made of them weighs more than the
 * rest of a monitor. Settings with a secret are each their own: nothing of them stays when their monitor is gone, and what belongs to one
 * login, such as a token, belongs to one monitor.
 */
export class SharedSettings {
  readonly #byText = new Map<string, unknown>();

  /** How many are kept. */
  get size(): number {
    return this.#byText.size;
  }

  /** The settings of an assignment, not to be changed. What cannot be read is given on as it is: the check type says what is wrong with it. */
  read({ protocol, settingsJson }: Pick<Assignment, 'protocol' | 'settingsJson'>): unknown {
    const text = settingsJson.toString('utf8');
    const key = `${protocol} ${text}`;
    const known = text.length > longestText ? undefined : this.#byText.get(key);
    if (known !== undefined) return known;
    const settings = parse(text);
    if (text.length <= longestText && isShareable(protocol, settings)) {
      if (this.#byText.size >= mostKept) this.#byText.clear();
      this.#byText.set(key, settings);
    }
    return settings;
  }
}

function parse(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return 'unreadable';
  }
}

function isShareable(protocol: string, settings: unknown): boolean {
  if (typeof settings !== 'object' || settings === null || !isProtocol(protocol)) return false;
  return secretFieldsOf(protocol).every((name) => !Object.hasOwn(settings, name));
}
