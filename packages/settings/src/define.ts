import type { z } from 'zod';

/** One setting. Its schema takes the text of the environment and gives the typed value. */
export type Setting = {
  readonly schema: z.ZodType<unknown, string>;
  /** As it would be written in the environment; absent: the value is undefined when the variable is not set. */
  readonly default?: string;
  /** What the table prints in place of `default`, for defaults that are worked out elsewhere. */
  readonly defaultMeaning?: string;
  readonly meaning: string;
  /** Never printed: neither in errors nor in tables. */
  readonly secret?: boolean;
};

export type SettingsDefinition<S extends Record<string, Setting> = Record<string, Setting>> = {
  /** Put before each key to get the variable's name, such as `PARALLAX_`. */
  readonly prefix: string;
  /** Variables below `prefix` that belong to somebody else and are neither read nor refused. */
  readonly foreignPrefixes: readonly string[];
  readonly settings: S;
};

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<Key>;

type ValueOf<S extends Setting> = S extends { readonly default: string }
  ? z.output<S['schema']>
  : z.output<S['schema']> | undefined;

/** The frozen object that comes out: `HTTP_PORT` is read as `httpPort`. */
export type SettingsOf<D extends SettingsDefinition> = {
  readonly [Key in keyof D['settings'] & string as CamelCase<Key>]: ValueOf<D['settings'][Key]>;
};

/** Declares the settings of one program. Keys are written without the prefix, in capitals. */
export function defineSettings<const S extends Record<string, Setting>>(
  settings: S,
  options: { readonly prefix?: string; readonly foreignPrefixes?: readonly string[] } = {},
): SettingsDefinition<S> {
  return { prefix: options.prefix ?? 'PARALLAX_', foreignPrefixes: options.foreignPrefixes ?? [], settings };
}

/** `HTTP_PORT` becomes `httpPort`. */
export function camelCase(key: string): string {
  return key.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
