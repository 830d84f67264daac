/** Red, green and blue, 0 to 255. */
type Colour = readonly [number, number, number];

/** What `#rrggbb` says; the other for anything else. */
export function colourOf(text: unknown, otherwise: string): string {
  return typeof text === 'string' && /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : otherwise;
}

/** The ratio of WCAG 2.2, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(read(one)), luminance(read(other))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** @param share of the second, 0 to 1 */
export function mix(first: string, second: string, share: number): string {
  const [a, b] = [read(first), read(second)];
  const part = (at: 0 | 1 | 2): string =>
    Math.round(a[at] + (b[at] - a[at]) * share)
      .toString(16)
      .padStart(2, '0');
  return `#${part(0)}${part(1)}${part(2)}`;
}

/** The colour, as far moved towards another as it must be to stand out from all grounds; the other where nothing less does. */
export function standingOut(colour: string, grounds: readonly string[], least: number, towards: string): string {
  const steps = 20;
  for (let step = 0; step < steps; step += 1) {
    const tried = mix(colour, towards, step / steps);
    if (grounds.every((ground) => contrast(tried, ground) >= least)) return tried;
  }
  return towards;
}

function read(colour: string): Colour {
  const number = Number.parseInt(colour.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function luminance([red, green, blue]: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
