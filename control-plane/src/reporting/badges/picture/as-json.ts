import type { BadgeText } from './badge-text.ts';

export const cacheSeconds = 60;

/** A badge as Shields reads it from an endpoint. */
export function badgeJson({ label, message, colour, isError }: BadgeText): string {
  return JSON.stringify({ schemaVersion: 1, label, message, color: colour, isError, cacheSeconds });
}
