import { secretWords } from '../net/secret-words.ts';

/**
 * Takes the values of secret settings out of a text, in the spellings in which a server might send them back.
 * @param settings as parsed; texts at any depth below a secret field are secret
 */
export function createSettingsRedactor(
  settings: Readonly<Record<string, unknown>>,
  secretFields: readonly string[],
): (text: string) => string {
  const plain = secretFields.flatMap((name) => textsIn(settings[name]));
  const { username } = settings;
  const pairs = typeof username === 'string' ? plain.map((secret) => `${username}:${secret}`) : [];
  const inside = plain.flatMap(valuesInside);
  const encoded = [...plain, ...inside].map((each) => encodeURIComponent(each.toWellFormed()));
  return secretWords([...plain, ...inside, ...pairs, ...encoded]);
}

/** The credentials inside `Scheme credentials`, and each value of a cookie. */
function valuesInside(value: string): readonly string[] {
  return [value.replace(/^\S+\s+/, ''), ...value.split(';').map((pair) => pair.replace(/^[^=]*=/, '').trim())];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
