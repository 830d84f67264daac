const hidden = '[redacted]';
/** Shorter values would blank out ordinary text. */
const minLength = 4;
/** Shorter pieces of base64 occur in ordinary text too. */
const minBase64 = 8;

/**
 * Makes a function that takes the secrets of a monitor out of what a server sent back, in every spelling of `spellingsOf`. What is shorter
 * than four characters stays.
 */
export function secretWords(secrets: readonly (string | undefined)[]): (text: string) => string {
  const given = secrets.filter((each) => each !== undefined && each !== '');
  if (given.length === 0) return (text) => text;
  // Put together when something is to be shown, which most checks never do.
  let words: readonly string[] | undefined;
  return (text) => {
    words ??= longestFirst(given.flatMap((each) => spellingsOf(each ?? '')));
    return words.reduce((rest, word) => rest.replaceAll(word, hidden), text);
  };
}

/** Words in the order in which they have to be taken out, without those that are too short. */
export function longestFirst(words: readonly string[]): readonly string[] {
  return [...new Set(words)].filter((each) => each.length >= minLength).sort((a, b) => b.length - a.length);
}

/** How a server may write a secret that it sends back: as it is, in JSON, in a URL or form, in HTML, in hexadecimal digits and in base64. */
export function spellingsOf(secret: string): readonly string[] {
  const text = secret.toWellFormed();
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const url = encodeURIComponent(text);
  return [
    secret,
    secret.trim(),
    JSON.stringify(secret).slice(1, -1),
    url,
    url.replaceAll('%20', '+').replace(/[!'()~*]/g, percent),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    hex,
    hex.toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...insideBase64(bytes),
  ];
}

/** What a secret looks like inside the base64 of a longer text: one of three, without the characters that depend on its neighbours. */
function insideBase64(bytes: Buffer): readonly string[] {
  const pieces = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = [0, 2, 3][before] ?? 0;
    const last = Math.floor((whole.length * 8) / 6);
    return [whole.toString('base64').slice(first, last), whole.toString('base64url').slice(first, last)];
  });
  return pieces.filter((each) => each.length >= minBase64);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
