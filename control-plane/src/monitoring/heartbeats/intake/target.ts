import { plainPing, saidBy, uuidIn } from '../signals/address.ts';
import type { Address, Said } from '../signals/address.ts';

/** What the path of a signal says. */
export type Target = {
  readonly address: Address;
  readonly said: Said;
  /** By slug every signal but the plain ping needs the secret. */
  readonly needsSecret: boolean;
};

/**
 * Reads a path below `/ping/` or `/api/v1/ping/`: `{uuid}`, `{uuid}/{signal}`, `{ping key}/{slug}`, `{ping key}/{slug}/{signal}`. No ping key looks like a
 * uuid, and no slug is the word of a signal.
 * @returns undefined for what can be none
 */
export function targetOf(parts: readonly string[]): Target | undefined {
  const [first = '', second, third] = parts;
  const uuid = uuidIn(first);
  if (uuid !== undefined && third === undefined) {
    const said = second === undefined ? plainPing : saidBy(second);
    return said === undefined ? undefined : { address: { by: 'uuid', uuid }, said, needsSecret: false };
  }
  if (second === undefined) return undefined;
  const address: Address = { by: 'slug', pingKey: first, slug: second };
  if (third === undefined) return { address, said: plainPing, needsSecret: false };
  const said = saidBy(third);
  return said === undefined ? undefined : { address, said, needsSecret: true };
}
