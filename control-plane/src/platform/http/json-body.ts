import { Problem } from '@parallax/api-contract';

/** Parses a JSON body; the HTTP part hardens it (depth, duplicate keys, NUL). */
export function readJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Problem('invalid_json', 'the body is not valid JSON', { cause: error });
  }
}
