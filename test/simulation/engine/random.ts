/** Numbers that a seed determines, the same on every machine. */
export type Random = {
  /** In [0, 1). */
  readonly unit: () => number;
  /** A whole number from `least` to `most`, both possible. */
  readonly between: (least: number, most: number) => number;
  /** True with this probability. */
  readonly chance: (probability: number) => boolean;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  /** Another stream of numbers under a name: what it gives does not depend on how many were drawn from any other. */
  readonly fork: (name: string) => Random;
};

/** A generator of the family sfc32, whose state is spread from the seed and the name. */
export function createRandom(seed: number, name = ''): Random {
  let a = mix(seed >>> 0);
  let b = mix((seed / 2 ** 32) >>> 0);
  let c = 0x9e3779b9;
  for (let at = 0; at < name.length; at += 1) c = mix(Math.imul(c ^ name.charCodeAt(at), 0x01000193));
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  const unit = (): number => next() / 2 ** 32;
  const between = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1));
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    pick: (items) => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    fork: (child) => createRandom(seed, `${name}/${child}`),
  };
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
