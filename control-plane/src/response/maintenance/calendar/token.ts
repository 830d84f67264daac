import { createHash, randomBytes } from 'node:crypto';

/** A new token of a calendar: 256 bit, safe in URLs. */
export function makeCalendarToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What a look-up is made by. */
export function calendarTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** What the sealed token of a workspace is bound to. */
export function calendarSealContext(workspaceId: number): string {
  return `calendar token ${workspaceId}`;
}

/** The address that a calendar program subscribes to. */
export function calendarUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/api/v1/public/maintenance/${token}.ics`;
}
