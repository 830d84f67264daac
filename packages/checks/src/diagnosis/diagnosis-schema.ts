import { z } from 'zod';
import { isIP } from 'node:net';
import { type ErrorCode, errorCodes } from '../outcome.ts';
import type { Diagnosis } from './diagnosis.ts';

/** What PostgreSQL and terminals cannot take is gone: NUL, halves of surrogate pairs. */
const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
const text = (most: number) => z.string().transform((value) => clean(value.slice(0, most)));
const duration = z.int().min(0).max(4_000_000_000);
const address = z.string().refine((value) => isIP(value) !== 0);
/** A code of a newer agent that is not known here stands as the nearest general one. */
const code = z
  .string()
  .max(64)
  .transform((value): ErrorCode => (Object.hasOwn(errorCodes, value) ? (value as ErrorCode) : 'connect_failed'));
const trouble = z.object({ code, message: text(2000) });

const certificate = z.object({
  subject: text(2000),
  issuer: text(2000),
  names: z.array(text(300)).transform((names) => names.slice(0, 100)),
  not_before: text(40),
  not_after: text(40),
  fingerprint_sha256: text(100),
  days_left: z.int().min(-1_000_000).max(1_000_000),
  protocol: text(40).optional(),
  cipher: text(100).optional(),
});

const schema = z.object({
  host: text(253),
  port: z.int().min(0).max(65_535),
  dns: z.object({
    addresses: z.array(address).max(16),
    duration_us: duration,
    failures: z.array(trouble.extend({ family: z.union([z.literal(4), z.literal(6)]) })).max(2),
  }),
  connections: z.array(z.object({ address, connect_us: duration.optional(), trouble: trouble.optional() })).max(8),
  path: z
    .object({
      address,
      reached: z.boolean(),
      answered_hops: z.int().min(0).max(255),
      last_answer: text(500).nullable(),
      rtt_us: duration.optional(),
      hops: z.array(text(500)).max(30),
    })
    .optional(),
  tls: z
    .object({
      address,
      tls_us: duration.optional(),
      certificate: certificate.optional(),
      trouble: trouble.optional(),
    })
    .optional(),
  answer: z
    .object({
      address,
      first_byte_us: duration.optional(),
      status: z.int().min(100).max(999).optional(),
      headers: z
        .array(z.tuple([text(200), text(300)]))
        .max(40)
        .optional(),
      body: text(8 * 1024).optional(),
      trouble: trouble.optional(),
    })
    .optional(),
});

/** Bytes of a diagnosis that travel at most. */
export const maxDiagnosisBytes = 64 * 1024;

/**
 * A diagnosis as another process sent it, bounded and cleaned; undefined for anything that is none. Fields that are not known are left
 * out, so a newer sender is understood.
 */
export function readDiagnosis(value: unknown): Diagnosis | undefined {
  const parsed = schema.safeParse(value);
  return parsed.success ? (withoutUndefined(parsed.data) as Diagnosis) : undefined;
}

/** Optional fields are absent, never undefined. */
function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
