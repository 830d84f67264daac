import { z } from 'zod';

const environmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'must be the name of an environment variable');

const sourceSchema = z.union([
  z.strictObject({ kept: z.literal(true) }),
  z.strictObject({ from_env: environmentName }),
  z.strictObject({ from_file: z.string().min(1).max(4_096) }),
]);

/** Where the value of a secret is: with the monitor already, in the environment, or in a file. */
export type SecretSource = z.output<typeof sourceSchema>;

const secretSchema = z.union([sourceSchema, z.record(z.string().max(200), sourceSchema)]);

/** A secret, or a map of them such as `secret_headers`. */
export type SecretSources = z.output<typeof secretSchema>;

/** What is to become of a secret: kept, or set to a value. */
export type WantedSecret = { readonly kept: true } | { readonly value: unknown };

/** Undefined for anything that is no source, above all for a secret in the clear. */
export function secretSources(value: unknown): SecretSources | undefined {
  const parsed = secretSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/**
 * @param valueOf gives the text of a source
 * @returns undefined where only some of a map are to be kept: the API takes such a map whole
 */
export function resolveSecret(
  sources: SecretSources,
  valueOf: (source: Exclude<SecretSource, { kept: true }>) => string,
): WantedSecret | undefined {
  if (isSource(sources)) return 'kept' in sources ? { kept: true } : { value: valueOf(sources) };
  const values = Object.entries(sources).map(
    ([name, source]) => [name, 'kept' in source ? undefined : valueOf(source)] as const,
  );
  if (values.some(([, value]) => value === undefined)) return undefined;
  return { value: Object.fromEntries(values) };
}

function isSource(sources: SecretSources): sources is SecretSource {
  return sourceSchema.safeParse(sources).success;
}
