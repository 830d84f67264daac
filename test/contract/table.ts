import { readFileSync } from 'node:fs';
import type { RouteContract } from '@parallax/api-contract';
import { z } from 'zod';

const parameterSchema = z.strictObject({
  type: z.enum(['integer', 'number', 'string', 'boolean']),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  enum: z.array(z.string()).optional(),
  /** Values that must be taken, where the full set is not a plain enumeration. */
  accepts: z.array(z.string()).optional(),
  format: z.enum(['date-time']).optional(),
  required: z.boolean().optional(),
});
/** A query parameter as the specification gives it. */
export type Parameter = z.infer<typeof parameterSchema>;

const rowSchema = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  auth: z.enum(['none', 'bearer', 'api-key-or-bearer', 'x-secret-header']),
  /** Not given: the specification names no success status. */
  success: z.number().optional(),
  query: z.record(z.string(), parameterSchema).optional(),
});
/** One endpoint of the specification. */
export type Row = z.infer<typeof rowSchema>;

/** The endpoints that the specification asks for: the project's own copy of its table. */
export const rows: readonly Row[] = z
  .array(rowSchema)
  .parse(JSON.parse(readFileSync(new URL('endpoints.json', import.meta.url), 'utf8')));

export function nameOf(row: Row): string {
  return `${row.method} ${row.path}`;
}

/** The contract that implements a row, or undefined while it is not built. Names of path parameters are free. */
export function contractOf(row: Row, contracts: readonly RouteContract[]): RouteContract | undefined {
  return contracts.find(
    (contract) => contract.method === row.method && anonymous(contract.path) === anonymous(row.path),
  );
}

function anonymous(path: string): string {
  return path.replaceAll(/\{[^}]+\}|:[a-z_]+/g, '*');
}

/** What the specification names; where it names none: 204 for a deletion, 200 or (for what creates) 201, or (for what is taken from outside) 202. */
export function statusOf(row: Row, contract: RouteContract): number {
  if (row.success !== undefined) return row.success;
  if (row.method === 'DELETE') return 204;
  const { status } = contract.success;
  return row.method === 'POST' && (status === 201 || status === 202) ? status : 200;
}

/** A value with what the specification makes of it. */
export type Trial = { readonly value: string; readonly isTaken: boolean };

const taken = (value: string | number | boolean): Trial => ({ value: String(value), isTaken: true });
const refused = (value: string | number | boolean): Trial => ({ value: String(value), isTaken: false });

/** Values of a parameter at and beyond each of its bounds. */
export function trialsOf(parameter: Parameter): Trial[] {
  const listed = parameter.enum ?? parameter.accepts;
  if (listed !== undefined) return [...listed.map(taken), refused('no-such-value'), refused(`${listed[0]}x`)];
  switch (parameter.type) {
    case 'boolean':
      return [...[true, false, 'True', 'FALSE', 1, 0].map(taken), ...['yes', '2', '', 'truee'].map(refused)];
    case 'integer':
    case 'number':
      return [...numberTrials(parameter), ...['abc', '', '1e1', '0x1'].map(refused)];
    case 'string':
      if (parameter.format === 'date-time') {
        return [
          taken('2026-03-01T10:00:00Z'),
          taken('2026-03-01T10:00:00.123+01:00'),
          ...['yesterday', '2026-13-01T00:00:00Z', '1'].map(refused),
        ];
      }
      return parameter.maxLength === undefined
        ? [taken('text')]
        : [taken('x'.repeat(parameter.maxLength)), refused('x'.repeat(parameter.maxLength + 1))];
  }
}

function numberTrials(parameter: Parameter): Trial[] {
  const step = parameter.type === 'integer' ? 1 : 0.01;
  const { minimum, maximum } = parameter;
  return [
    ...(minimum === undefined ? [] : [taken(minimum), refused(minimum - step)]),
    ...(maximum === undefined ? [] : [taken(maximum), refused(maximum + step)]),
    ...(parameter.type === 'integer' ? [refused(1.5)] : []),
  ];
}
