import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorCodes } from '@parallax/checks';
import type pg from 'pg';
import type { ApiClient } from './api-client.ts';

/** A message that has arrived. */
export type Arrival = {
  /** The key of the destination. */
  readonly target: string;
  /** The same at each attempt. */
  readonly id: string;
  readonly isDigest: boolean;
  readonly title: string;
  /** Of how many failures it tells. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
};

export type Receiver = {
  readonly arrivals: readonly Arrival[];
  readonly baseUrl: string;
  readonly close: () => void;
};

/** A server on loopback that takes webhooks, at an address for each target, and alarms as PagerDuty does. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      const arrival = request.url === '/v2/enqueue' ? alarmOf(body) : webhookOf(body, request);
      arrivals.push({ ...arrival, atMs: Date.now() });
      response.statusCode = 202;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    arrivals,
    baseUrl: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function webhookOf(body: Record<string, unknown>, { url, headers }: IncomingMessage): Omit<Arrival, 'atMs'> {
  const isDigest = body['type'] === 'alert.digest';
  const count = isDigest ? Number(body['subject_count']) : 1;
  const target = (url ?? '').slice(1);
  return { target, id: String(headers['webhook-id']), isDigest, title: String(body['title']), count };
}

function alarmOf(body: Record<string, unknown>): Omit<Arrival, 'atMs'> {
  const title = String((body['payload'] as Record<string, unknown>)['summary']);
  return { target: String(body['routing_key']), id: String(body['dedup_key']), isDigest: false, title, count: 1 };
}

/** Somebody to be told, of what. */
export type Concerned = { readonly name: string; readonly scope: object; readonly events: readonly string[] };

/**
 * An alert for each target, at most 20 of them, which tells it at once of what its scope has. A `webhook` is told much in digests, `pagerduty` each
 * thing in a message of its own.
 */
export async function tellTargets(
  api: ApiClient,
  workspaceId: number,
  channel: 'webhook' | 'pagerduty',
  receiver: Receiver,
  concerned: readonly Concerned[],
): Promise<void> {
  const config = await api.call<{ id: number }>('POST', '/api/v1/alert-channel-configs', 201, {
    channel,
    settings: {
      destinations: concerned.map(({ name }) => ({
        key: name,
        name,
        ...(channel === 'webhook' ? { url: `${receiver.baseUrl}/${name}` } : { routing_key: name }),
      })),
    },
  });
  for (const { name, scope, events } of concerned) {
    const steps = [{ after_seconds: 0, targets: [{ channel, config_id: config.id, target: name }] }];
    await api.call('POST', '/api/v1/alerts', 201, { workspace_id: workspaceId, name, scope, events, steps });
  }
}

/**
 * So many monitors of a workspace, called `<name>-1` and so on, which have the tags in turn. Nobody checks them: their probe is away, and has a day
 * until the control plane would check in its place.
 * @returns their numbers
 */
export async function addMonitors(
  pool: pg.Pool,
  workspaceId: number,
  name: string,
  count: number,
  tags: readonly string[],
): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: number; name: string }>(
    `insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds, tags)
     select w.id, w.owner_id, $4 || '-' || n, 'https://example.com/', 'https', 86400, 10, array[($3::text[])[1 + n % cardinality($3::text[])]]
     from workspaces w, generate_series(1, $2::integer) n where w.id = $1 returning id, name`,
    [workspaceId, count, tags, name],
  );
  await pool.query(
    `with away as (
       insert into probes (name, region, signing_public_key, last_seen_at)
       values ('away-' || $2::text, 'away', decode(repeat('00', 32), 'hex'), now()) returning id, region)
     insert into assignments (monitor_id, probe_id, region, started_at, revision)
     select m.id, away.id, away.region, now(), m.n from away, unnest($1::integer[]) with ordinality m (id, n)`,
    [rows.map(({ id }) => id), name],
  );
  // By the numbers in their names, whatever the order of the rows.
  const numberOf = (each: { readonly name: string }): number => Number(each.name.slice(name.length + 1));
  return rows.toSorted((one, other) => numberOf(one) - numberOf(other)).map(({ id }) => id);
}

/**
 * Tells in one commit that monitors are down, each for a cause of its own, as the ingest does: evidence, and a row of the outbox for each.
 * @returns when it was committed, milliseconds since the epoch
 */
export async function fail(pool: pg.Pool, monitorIds: readonly number[]): Promise<number> {
  await pool.query(
    `with of as (
       select m.id, m.workspace_id, now() as at, (extract(epoch from now()) * 1000000)::bigint as us from monitors m where m.id = any ($1::integer[])
     ), kept as (
       insert into result_evidence (monitor_id, e, probe_id, message, evidence)
       select id, at, 1, 'connection refused', jsonb_build_object('address', '2001:db8::' || to_hex(id / 65536) || ':' || to_hex(id % 65536)) from of
     )
     insert into outbox (key, kind, payload)
     select 'monitor:' || id, 'monitor.transition', jsonb_build_object('monitor_id', id, 'workspace_id', workspace_id, 'from', 'UP', 'to', 'DOWN',
       'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'detected_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'range_started_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'evidence', jsonb_build_object('rule', 'quorum_failing', 'quorum', 1, 'missing', '[]'::jsonb,
         'voters', jsonb_build_array(jsonb_build_object('voter', 1, 'vote', 'DOWN', 'sinceUs', us, 'error', $2::integer))))
     from of order by id`,
    [monitorIds, errorCodes.connect_refused],
  );
  return Date.now();
}
