import { z } from 'zod';
import { route } from './route.ts';

const state = z.enum(['ok', 'failing']);
const tag = 'Health';
const away = 'something is wrong; the body is the same';

const part = z.object({ status: state, detail: z.string() });

export const healthRoute = route({
  method: 'GET',
  path: '/health',
  credentials: 'none',
  tag,
  summary: 'Health including the database',
  success: { status: 200, answer: z.object({ status: state, database: part }).meta({ id: 'Health' }) },
  alternative: { status: 503, description: away },
});

export const livenessRoute = route({
  method: 'GET',
  path: '/health/liveness',
  credentials: 'none',
  tag,
  summary: 'Whether the process runs; touches nothing else',
  success: { status: 200, answer: z.object({ status: z.literal('ok') }).meta({ id: 'Liveness' }) },
});

export const readinessRoute = route({
  method: 'GET',
  path: '/health/readiness',
  credentials: 'none',
  tag,
  summary: 'Whether requests are answered: the database is there and has the schema of this program',
  success: {
    status: 200,
    answer: z.object({ status: state, database: part, schema: part }).meta({ id: 'Readiness' }),
  },
  alternative: { status: 503, description: away },
});

export const deepHealthRoute = route({
  method: 'GET',
  path: '/health/deep',
  credentials: 'none',
  tag,
  summary: 'Health including database, broker, schema, the lag of the ingest and a sample of read models',
  success: {
    status: 200,
    answer: z
      .object({
        status: state,
        database: part,
        nats: part,
        schema: part.extend({ version: z.number().int().nullable(), expected_version: z.number().int() }),
        ingest: part.extend({ lag_seconds: z.number().nullable() }),
        read_models: part,
      })
      .meta({ id: 'DeepHealth' }),
  },
  alternative: { status: 503, description: away },
});

export const versionRoute = route({
  method: 'GET',
  path: '/version',
  credentials: 'none',
  tag,
  summary: 'Version and build of the program',
  success: {
    status: 200,
    answer: z
      .object({
        name: z.string(),
        version: z.string(),
        api_version: z.string(),
        node: z.string(),
        schema_version: z.number().int(),
      })
      .meta({ id: 'Version' }),
  },
});
