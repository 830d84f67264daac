import { signalWords, slugSchema } from '@parallax/api-contract';
import type { Signal } from './signal.ts';

/** Whom a signal is for. */
export type Address =
  | { readonly by: 'slug'; readonly pingKey: string; readonly slug: string }
  | { readonly by: 'uuid'; readonly uuid: string }
  | { readonly by: 'push'; readonly token: string };

/** What a signal says by its path. */
export type Said = Pick<Signal, 'kind' | 'exitCode'>;

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The UUID in its usual spelling; undefined for anything else. */
export function uuidIn(text: string): string | undefined {
  return uuidForm.test(text) ? text.toLowerCase() : undefined;
}

/** What the last part of a path says: a word, or an exit code from 0 to 255; undefined for anything else. */
export function saidBy(part: string): Said | undefined {
  const word = signalWords.find((each) => each === part);
  if (word !== undefined) return { kind: word, exitCode: null };
  if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
  return { kind: part === '0' ? 'success' : 'fail', exitCode: Number(part) };
}

/** A plain ping. */
export const plainPing: Said = { kind: 'ping', exitCode: null };

/** Whether a slug can be one at all: what cannot need not be made. */
export function isSlug(text: string): boolean {
  return slugSchema.safeParse(text).success;
}
