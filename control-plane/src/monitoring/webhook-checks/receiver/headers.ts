import type { Headers } from '../signatures/claim.ts';

/** Headers as they came, each as often as it was sent: joined, two signatures would look like one. @param raw names and values by turns */
export function headersOf(raw: readonly string[]): Headers {
  const byName = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const values = byName.get(name) ?? [];
    values.push((raw[index + 1] ?? '').trim());
    byName.set(name, values);
  }
  return (name) => byName.get(name) ?? [];
}
