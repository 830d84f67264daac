import type { z } from 'zod';
import type { CheckType } from './check.ts';
import { dns } from './dns.ts';
import { http, https } from './http.ts';
import { icmp, ping } from './icmp.ts';
import { ssl, tls } from './ssl.ts';
import { tcp } from './tcp.ts';

/** Every check type by its protocol: the only list. Everything else (enums, forms, tables) is derived from it. */
export const checkTypes = {
  http,
  https,
  tcp,
  icmp,
  ping,
  dns,
  ssl,
  tls,
} as const;

export type Protocol = keyof typeof checkTypes;
export const protocols = Object.keys(checkTypes) as [Protocol, ...Protocol[]];

/** A check type whose settings are only known to be an object. */
export type AnyCheckType = CheckType;

export function isProtocol(value: string): value is Protocol {
  return Object.hasOwn(checkTypes, value);
}

/** The check type of a protocol. */
export function checkTypeOf(protocol: Protocol): AnyCheckType {
  return checkTypes[protocol] as unknown as AnyCheckType;
}

/** The schema of a protocol's settings; `{}` is always valid input. */
export function settingsSchema(protocol: Protocol): z.ZodType {
  return checkTypes[protocol].settings;
}

/** Top-level names of a protocol's settings that are sealed at rest, never answered, logged or exported. */
export function secretFieldsOf(protocol: Protocol): readonly string[] {
  return checkTypes[protocol].secretFields;
}
