/** A key that targets may name, made from what people call a place, and taken by no other place. */
export function freeKey(name: string, taken: readonly { readonly key: string }[]): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|-+$/g, '')
    .slice(0, 40);
  const base = plain === '' ? 'room' : plain;
  const isFree = (key: string): boolean => taken.every((each) => each.key !== key);
  let number = 2;
  while (!isFree(number === 2 ? base : `${base}-${number - 1}`)) number += 1;
  return number === 2 ? base : `${base}-${number - 1}`;
}
