import { Problem } from '@parallax/api-contract';
import { recordAudits } from '../../../../identity/audit/index.ts';
import { addressUnconfirmed } from '../../../../identity/unconfirmed/index.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { scopeOf } from '../../../../platform/http/caller.ts';
import type { Actor } from '../../gateway.ts';
import { lockListed } from '../queries.ts';
import type { OnMonitorsMoved } from '../queries.ts';
import { moveListed } from './queries.ts';
import type { OpenDestination } from './queries.ts';

/**
 * Moves one monitor, whose row the caller has locked, with what is kept of it.
 * @returns the probes to hint
 * @throws Problem that names `workspace_id` when it may not move
 */
export async function moveSingle(
  tx: Transaction,
  actor: Actor,
  monitorId: number,
  destination: OpenDestination,
  hooks: readonly OnMonitorsMoved[],
): Promise<readonly number[]> {
  const scope = scopeOf(actor.caller);
  const listed = await lockListed(scope, tx, [monitorId]);
  const { outcomes, events, probeIds } = await moveListed(scope, tx, destination, listed, hooks);
  const outcome = outcomes.get(monitorId);
  if (outcome?.kind === 'refused') throw refusedMove(outcome.refusal);
  await recordAudits(tx, actor.caller, actor.request, events);
  return probeIds;
}

function refusedMove({ code, detail }: { readonly code: string; readonly detail: string }): Problem {
  if (code === 'address_unconfirmed') return addressUnconfirmed(detail);
  const known = code === 'name_taken' || code === 'interval_below_plan' || code === 'no_probe_able' ? code : 'conflict';
  return new Problem(known, detail, { errors: [{ in: 'body', path: '/workspace_id', code: known, message: detail }] });
}
