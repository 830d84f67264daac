import { z } from 'zod';
import { assertionsSchema, severities } from './assertions/settings.ts';
import { changed, lazily } from './lazily.ts';

/** Settings that every check type takes beside its own. None has a default, so that nothing is stored where none is used. */
export const commonShape = lazily(() => ({
  /** What has to hold of a good answer beyond what the type's own settings ask for. */
  assertions: assertionsSchema().optional(),
  /**
   * The target must not answer: no connection, no reply in time or no such name is good, any answer is `inverted_answer`. What is the
   * resolver's or the probe's own fault stays that.
   */
  inverted: z.boolean().optional(),
  /** Checks every address of the name, IPv4 and IPv6, at most sixteen, at the same time. */
  all_addresses: z.boolean().optional(),
  /** With `all_addresses`: how grave it is when some addresses fail and others do not (default `degraded`). */
  bad_address_severity: z.enum(severities).optional(),
}));

/** Settings of types whose answers are web pages. */
const pageShape = lazily(() => ({
  /** Fails for a page that answers in the target's place: parked, suspended, for sale, or a provider's notice of a block. */
  detect_stub_pages: z.boolean().optional(),
}));
export type CommonSettings = z.infer<z.ZodObject<ReturnType<typeof commonShape> & ReturnType<typeof pageShape>>>;

const webTypes: ReadonlySet<string> = new Set(['http', 'https']);
const extended = new WeakMap<z.ZodObject, z.ZodObject>();

/** The settings of a type with those that every type takes; one schema for types that share theirs. */
function withCommonSettings(type: string, own: z.ZodObject): z.ZodObject {
  const known = extended.get(own);
  if (known !== undefined) return known;
  const shape = webTypes.has(type) ? { ...commonShape(), ...pageShape() } : commonShape();
  const made = own.safeExtend(shape).superRefine((all, context) => {
    const problem = contradiction(all);
    if (problem !== undefined) context.addIssue({ code: 'custom', ...problem });
  });
  extended.set(own, made);
  return made;
}

function contradiction(all: CommonSettings): { readonly message: string; readonly path: string[] } | undefined {
  if (all.inverted === true && all.assertions !== undefined)
    return { message: 'What must not answer has nothing to assert.', path: ['assertions'] };
  if (all.inverted === true && all.detect_stub_pages === true)
    return { message: 'What must not answer has no page to look at.', path: ['detect_stub_pages'] };
  if (all.bad_address_severity !== undefined && all.all_addresses !== true)
    return { message: 'Only with all_addresses can some addresses be bad.', path: ['bad_address_severity'] };
  return undefined;
}

/** Gives every type the common settings. They are put together when they are first asked for, which most never are on a probe. */
export function extendAll<const Types extends Readonly<Record<string, { readonly settings: () => z.ZodObject }>>>(
  types: Types,
): Types {
  const whole = Object.entries(types).map(([name, type]) => {
    const settings = lazily(() => withCommonSettings(name, type.settings()));
    return [name, changed(type, { settings })] as const;
  });
  return Object.fromEntries(whole) as Types;
}
