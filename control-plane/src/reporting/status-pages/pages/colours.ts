/** A colour in OKLab (Ottosson 2020): equal distances look about equally different. */
type Lab = readonly [lightness: number, a: number, b: number];
type Triple = readonly [number, number, number];

const channels = (colour: string): Triple => [byteAt(colour, 1), byteAt(colour, 3), byteAt(colour, 5)];
const byteAt = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16) / 255;
const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const gamma = (value: number): number => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055);

/** Relative luminance by WCAG 2.2. */
export function luminance(colour: string): number {
  const [red, green, blue] = channels(colour);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** The contrast of two colours `#rrggbb` by WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  return contrastOf(luminance(one), luminance(other));
}

/** The same of two luminances. */
export function contrastOf(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function labOf(colour: string): Lab {
  const [r, g, b] = channels(colour);
  const [red, green, blue] = [linear(r), linear(g), linear(b)];
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** Linear red, green and blue; outside of 0 to 1 where no screen shows it. */
function rgbOf([lightness, a, b]: Lab): Triple {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

const isShown = (rgb: Triple): boolean => rgb.every((value) => value > -0.0005 && value < 1.0005);

/** The colour of a lightness with the hue of another, and as much of its chroma as a screen shows. */
function atLightness(lightness: number, [, a, b]: Lab): string {
  let [least, most] = [0, 1];
  let rgb = rgbOf([lightness, a, b]);
  if (!isShown(rgb)) {
    for (let round = 0; round < 12; round += 1) {
      const share = (least + most) / 2;
      if (isShown(rgbOf([lightness, a * share, b * share]))) least = share;
      else most = share;
    }
    rgb = rgbOf([lightness, a * least, b * least]);
  }
  const hex = rgb.map((value) => {
    const byte = Math.round(255 * gamma(Math.min(1, Math.max(0, value))));
    return byte.toString(16).padStart(2, '0');
  });
  return `#${hex.join('')}`;
}

/** How different two colours look: their distance in OKLab. */
export function difference(one: string, other: string): number {
  const [first, second] = [labOf(one), labOf(other)];
  return Math.hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

const steps = 200;

/** The colour of the same hue that passes and looks most like the given one; undefined where none passes. */
export function nearestColour(colour: string, passes: (colour: string) => boolean): string | undefined {
  const lab = labOf(colour);
  const found = [-1, 1].flatMap((direction) => {
    const end = direction < 0 ? 0 : 1;
    for (let step = 0; step <= steps; step += 1) {
      const tried = atLightness(lab[0] + ((end - lab[0]) * step) / steps, lab);
      if (passes(tried)) return [tried];
    }
    return [];
  });
  return found.toSorted((one, other) => difference(colour, one) - difference(colour, other))[0];
}
