import { groupCheckSettings, mostGroupMembers, nameSchema } from '@parallax/api-contract';
import { z } from 'zod';

/** By code units: the same everywhere, whatever the language of the machine. */
export function inNameOrder(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}

/**
 * Settings of a group monitor as files have them: its members, or the monitor group that it watches, by name. Identifiers differ elsewhere, so
 * none stands in a file.
 */
export const namedGroupSettings = z
  .strictObject({
    monitors: z
      .array(nameSchema)
      .max(mostGroupMembers)
      .overwrite((names) => [...inNameOrder(names)])
      .optional(),
    group: nameSchema.optional(),
    minimum_up: groupCheckSettings.shape.minimum_up,
  })
  .superRefine((settings, context) => {
    if ((settings.monitors === undefined) !== (settings.group === undefined)) return;
    context.addIssue({
      code: 'custom',
      path: [settings.monitors === undefined ? 'monitors' : 'group'],
      message: 'a monitor of the protocol group needs monitors or group, one of them',
    });
  });
export type NamedGroupSettings = z.output<typeof namedGroupSettings>;

/** Settings that stand in requests in place of names. */
const identifiers: ReadonlyMap<string, string> = new Map([
  ['monitor_ids', 'monitors'],
  ['group_id', 'group'],
]);

/** What to write in a file in place of an identifier; undefined for a setting that is none. */
export function insteadOfIdentifier(setting: string): string | undefined {
  const instead = identifiers.get(setting);
  return instead === undefined
    ? undefined
    : `identifiers mean nothing in a file: write ${instead}, by name, in place of ${setting}`;
}

/** What a file shows as the target of a group monitor; nobody reads it. */
export function namedGroupTarget({ group }: { readonly group?: unknown }): string {
  return typeof group === 'string' ? `group:${group}` : 'group:members';
}
