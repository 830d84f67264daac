import { errorCodes } from '../../packages/checks/src/error-codes.ts';
import { addRange, addResults } from '../../control-plane/src/monitoring/testing.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { enqueue } from '../../control-plane/src/platform/outbox/enqueue.ts';
import { workOnce } from '../../control-plane/src/platform/outbox/worker.ts';
import { incidentsCapability } from '../../control-plane/src/response/incidents/index.ts';
import { z } from 'zod';
import type { World } from './world.ts';

const ids = z.object({ id: z.number() });

/** What a probe of an older version kept of a ping that failed. */
const keptEvidence = { address: '192.0.2.1', packets_sent: 3, rtt_min_us: 1_500, details: { rtt_average_us: 2_500 } };
const diagnosis = {
  host: 'shop.test',
  port: 443,
  dns: { addresses: ['192.0.2.1'], duration_us: 900_000, failures: [] },
  connections: [{ address: '192.0.2.1', connect_us: 1_200 }],
};
const differences = [{ field: 'dns.duration_us', a: 900_000, b: 1_000 }];

/** A monitor with an outage as the engine records it: results with evidence, a range with votes and a diagnosis, an incident. */
export async function outage(
  world: World,
): Promise<{ readonly monitorId: number; readonly rangeId: number; readonly incidentId: number }> {
  const { database, context, workspaceId } = world;
  const monitorId = await world.monitor();
  // Paused, so that no monitor is assigned to it: nobody is there to answer.
  const probeId = await database.worker.oneFirst(sql.type(ids)`
    insert into probes (workspace_id, name, region, signing_public_key, is_paused)
    values (${workspaceId}, ${`outage-${world.unique()}`}, 'here', ${sql.binary(Buffer.alloc(32, 1))}, true) returning id`);
  const atMs = Date.now() - 60_000;
  const at = sql.timestamp(new Date(atMs));
  const evidence = {
    rule: 'quorum_failing',
    quorum: 1,
    voters: [
      { voter: 0, vote: 'UP', sinceUs: atMs * 1_000, error: 0 },
      { voter: probeId, vote: 'DOWN', sinceUs: atMs * 1_000, error: errorCodes.connect_refused },
    ],
    missing: [0],
  };
  await addResults(database, [{ monitorId, probeId, atMs, outcome: 'fail', code: 'connect_refused' }]);
  await addRange(database, { monitorId, fromMs: atMs, toMs: null, status: 'DOWN' });
  // The engine writes a range and the status in one transaction, and the health of the read models is judged by that.
  await database.worker.query(sql.unsafe`
    update monitors set status = 'DOWN', status_since = ${at} where id = ${monitorId}`);
  await database.worker.query(sql.unsafe`
    insert into result_evidence (e, monitor_id, probe_id, message, evidence)
    values (${at}, ${monitorId}, ${probeId}, 'It refuses.', ${JSON.stringify(keptEvidence)}::jsonb)`);
  await database.worker.query(sql.unsafe`
    update status_ranges set evidence = ${JSON.stringify(evidence)}::jsonb where monitor_id = ${monitorId}`);
  await database.worker.query(sql.unsafe`
    insert into diagnoses (workspace_id, monitor_id, since, due_at, state, made_at, failing_probe_id, failing, differences, summary)
    values (${workspaceId}, ${monitorId}, ${at}, now(), 'made', now(), ${probeId}, ${JSON.stringify(diagnosis)}::jsonb,
      ${JSON.stringify(differences)}::jsonb, 'They differ.')`);
  const told = new Date(atMs).toISOString();
  const change = { from: 'UP', to: 'DOWN', at: told, detected_at: told, range_started_at: told };
  const payload = { monitor_id: monitorId, workspace_id: workspaceId, ...change, evidence };
  await database.worker.transaction((tx) =>
    enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
  );
  while ((await workOnce(context, incidentsCapability.consumers ?? [])) > 0);
  const row = (table: 'range' | 'incident') =>
    database.worker.oneFirst(
      table === 'range'
        ? sql.type(ids)`select id::integer from status_ranges where monitor_id = ${monitorId}`
        : sql.type(
            ids,
          )`select incident_id as id from incident_members where subject_type = 'monitor' and subject_id = ${monitorId}`,
    );
  return { monitorId, rangeId: await row('range'), incidentId: await row('incident') };
}
