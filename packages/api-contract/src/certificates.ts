import { z } from 'zod';
import { route } from './route.ts';
import { booleanQuery, idSchema, timestamp } from './shared.ts';

/** What is wrong with a chain. */
export const chainProblemCodes = [
  'expired',
  'not_yet_valid',
  'wrong_host',
  'self_signed',
  'missing_intermediate',
  'untrusted',
  'wrong_order',
  'unrelated',
  'weak_key',
  'weak_signature',
] as const;

const chainProblemSchema = z
  .object({
    code: z.enum(chainProblemCodes),
    message: z.string(),
    certificate: z.int().nullable().describe('Index into `certificates`; null when it is the whole chain.'),
  })
  .meta({ id: 'CertificateChainProblem' });

const chainCertificateSchema = z
  .object({
    role: z.enum(['leaf', 'intermediate', 'root']),
    subject: z.string(),
    issuer: z.string(),
    names: z.array(z.string()).describe('DNS names and addresses of the subject alternative name, 100 at most.'),
    serial_number: z.string(),
    not_before: timestamp,
    not_after: timestamp,
    days_left: z.int().describe('Whole days until the end, rounded down; negative after it.'),
    key_type: z.string().describe('For example `rsa`, `ec`, `ed25519`.'),
    key_bits: z.int().nullable(),
    signature_algorithm: z.string(),
    fingerprint_sha256: z.string(),
    pem: z.string(),
  })
  .meta({ id: 'ChainCertificate' });
export type ChainCertificate = z.input<typeof chainCertificateSchema>;

export const certificateChainSchema = z
  .object({
    reachable: z
      .boolean()
      .describe('A connection came about; whether it was secured is said by `certificates` and `error`.'),
    certificates: z
      .array(chainCertificateSchema)
      .describe('In the order in which the server sent them, the leaf first.'),
    error: z.string().nullable().describe('Why there is no chain; null when there is one.'),
    error_code: z.string().nullable(),
    trusted: z.boolean().describe('The chain leads to a trusted authority, is in date and is for the host.'),
    problems: z.array(chainProblemSchema),
    tls_version: z.string().nullable(),
    cipher: z.string().nullable(),
    checked_at: timestamp,
    probe_id: z.int().nullable().describe('The probe that looked; null for the control plane.'),
    cached: z.boolean(),
  })
  .meta({ id: 'CertificateChain' });
export type CertificateChain = z.input<typeof certificateChainSchema>;

export const readCertificateChainRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/cert-chain',
  credentials: 'key-or-bearer',
  tag: 'Monitors',
  summary: 'Certificate chain',
  description:
    'A live TLS handshake with the target, by an assigned probe or, where there is none, by the control plane. Answers are kept for five ' +
    'minutes; at most ten handshakes are made per minute and monitor. 422 when the protocol and settings of the monitor have no TLS.',
  params: z.object({ monitor_id: idSchema }),
  query: z.object({ force: booleanQuery(false).describe('Shake hands now, whatever is kept.') }),
  success: { status: 200, answer: certificateChainSchema },
  errors: [404],
});
