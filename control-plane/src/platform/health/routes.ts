import { deepHealthRoute, healthRoute, livenessRoute, readinessRoute, versionRoute } from '@parallax/api-contract';
import type { AnswerOf } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import type { Bus } from '../bus/bus.ts';
import type { Database } from '../database/pools.ts';
import { AlternativeAnswer, handle } from '../http/handler.ts';
import type { Route } from '../http/handler.ts';
import { ingestLagSeconds, maxIngestLagSeconds } from './ingest-lag.ts';
import { expectedSchema, pingDatabase, presentSchema, shardProgress } from './queries.ts';

// An answer that comes later than this is no health.
const deadlineMs = 3_000;

/** What health looks at; the context of the process has it. */
export type HealthContext = {
  readonly database: Database;
  readonly bus: Bus;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly version: string;
};

/** What other areas contribute to the deep look. */
export type HealthOptions = {
  /** Each compares a sample of read models with what they are made from. Given the pool of the worker login. */
  readonly readModels: readonly ((
    pool: DatabasePool,
  ) => Promise<{ readonly looked: number; readonly wrong: number }>)[];
};

type Part = { status: 'ok' | 'failing'; detail: string };

/** `/health…` and `/version`: open to all, so details name what is wrong and nothing of how it is made. */
export function healthRoutes(context: HealthContext, options: HealthOptions): readonly Route[] {
  return [
    handle(livenessRoute, async () => liveness()),
    handle(healthRoute, async () => {
      const database = await databaseHealth(context);
      return answer({ status: overall(database), database });
    }),
    handle(readinessRoute, async () => answer(await readiness(context))),
    handle(deepHealthRoute, async () => {
      const [database, nats, schema, ingest, readModels] = await Promise.all([
        databaseHealth(context),
        brokerHealth(context),
        schemaHealth(context),
        ingestHealth(context),
        readModelHealth(context, options),
      ]);
      const status = overall(database, nats, schema, ingest, readModels);
      return answer({ status, database, nats, schema, ingest, read_models: readModels });
    }),
    handle(versionRoute, async () => ({
      name: 'parallax',
      version: context.version,
      api_version: '1.0.0',
      node: process.versions.node,
      schema_version: (await expectedSchema()).version,
    })),
  ];
}

/** That this process answers at all. */
export function liveness(): AnswerOf<typeof livenessRoute> {
  return { status: 'ok' };
}

/** Whether this process can do its work: its database answers and has the schema that it was made for. */
export async function readiness(context: Pick<HealthContext, 'database'>): Promise<AnswerOf<typeof readinessRoute>> {
  const [database, { version: _version, expected_version: _expected, ...schema }] = await Promise.all([
    databaseHealth(context),
    schemaHealth(context),
  ]);
  return { status: overall(database, schema), database, schema };
}

function overall(...parts: readonly Part[]): 'ok' | 'failing' {
  return parts.every((part) => part.status === 'ok') ? 'ok' : 'failing';
}

function answer<Body extends { readonly status: 'ok' | 'failing' }>(body: Body): Body | AlternativeAnswer<Body> {
  return body.status === 'ok' ? body : new AlternativeAnswer(body);
}

/** The result of `look`, or `failing` with the given words when it throws or takes too long. */
async function judged<Result>(look: () => Promise<Result>, failing: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result>((resolve) => {
    timer = setTimeout(() => resolve(failing), deadlineMs);
  });
  try {
    return await Promise.race([look(), late]);
  } catch {
    return failing;
  } finally {
    clearTimeout(timer);
  }
}

async function databaseHealth({ database }: Pick<HealthContext, 'database'>): Promise<Part> {
  const look = async (): Promise<Part> => {
    await pingDatabase(database.api);
    return { status: 'ok', detail: 'answers' };
  };
  return judged(look, { status: 'failing', detail: 'does not answer' });
}

async function brokerHealth(context: HealthContext): Promise<Part> {
  const look = async (): Promise<Part> => {
    await context.bus.connection.flush();
    return { status: 'ok', detail: 'answers' };
  };
  return judged(look, { status: 'failing', detail: 'does not answer' });
}

async function schemaHealth({
  database,
}: Pick<HealthContext, 'database'>): Promise<Part & { version: number | null; expected_version: number }> {
  const expected = await expectedSchema();
  const look = async (): Promise<Part & { version: number | null; expected_version: number }> => {
    const present = await presentSchema(database.api);
    const fits = present.checksum === expected.checksum;
    return {
      status: fits ? 'ok' : 'failing',
      detail: fits ? 'as this program expects' : 'differs from what this program expects',
      version: present.version,
      expected_version: expected.version,
    };
  };
  const unread = { detail: 'could not be read', version: null, expected_version: expected.version };
  return judged(look, { status: 'failing', ...unread });
}

async function ingestHealth({ database, now }: HealthContext): Promise<Part & { lag_seconds: number | null }> {
  const look = async (): Promise<Part & { lag_seconds: number | null }> => {
    const shards = await shardProgress(database.api);
    const lag = ingestLagSeconds(shards, now());
    if (lag === null) return { status: 'ok', detail: 'nothing was ingested yet', lag_seconds: null };
    const ownerless = shards.filter((shard) => !shard.hasOwner).map((shard) => shard.shard);
    if (ownerless.length > 0) {
      return { status: 'failing', detail: `nobody ingests shard ${ownerless.join(', ')}`, lag_seconds: lag };
    }
    const isLate = lag > maxIngestLagSeconds;
    return { status: isLate ? 'failing' : 'ok', detail: isLate ? 'is behind' : 'keeps up', lag_seconds: lag };
  };
  return judged(look, { status: 'failing', detail: 'could not be read', lag_seconds: null });
}

async function readModelHealth({ database }: HealthContext, { readModels }: HealthOptions): Promise<Part> {
  const look = async (): Promise<Part> => {
    const samples = await Promise.all(readModels.map((sample) => sample(database.worker)));
    const looked = samples.reduce((sum, sample) => sum + sample.looked, 0);
    const wrong = samples.reduce((sum, sample) => sum + sample.wrong, 0);
    if (wrong > 0) return { status: 'failing', detail: `${wrong} of ${looked} differ from what they are made from` };
    return { status: 'ok', detail: looked === 0 ? 'there are none yet' : `${looked} looked at, all as they should be` };
  };
  return judged(look, { status: 'failing', detail: 'could not be read' });
}
