import { randomBytes } from 'node:crypto';
import {
  createProbeJoinToken,
  getProbe,
  liftQuarantine as liftQuarantineRoute,
  listProbeAddresses,
  listProbeAddressesAtRoot,
  listProbes as listProbesRoute,
  Problem,
  revokeProbe as revokeProbeRoute,
  updateProbe,
} from '@parallax/api-contract';
import type { InputOf } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { AuditEvent } from '../../identity/audit/index.ts';
import { loadAuthority } from '../../installation/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle, OtherText } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { dispatchSubject, probesChangedSubject } from '../../platform/bus/subjects.ts';
import { createJoinToken, joinCommand } from './join-token.queries.ts';
import { allowList } from './allow-list.ts';
import { asCidr, isGlobalAddress } from './peer-address.ts';
import { replicaSourceAddresses } from '../../platform/replicas/queries.ts';
import { changeProbe, findProbe, listProbes, probeAnswer, publicProbeAddresses } from './queries.ts';
import type { ProbeRow } from './queries.ts';
import { announce } from './quarantine/job.ts';
import { liftQuarantine } from './quarantine/queries.ts';
import { revokeProbe } from './revoke.queries.ts';
import { lostAfterSeconds } from './sessions/queries.ts';

type Actor = { readonly caller: Caller; readonly request: RequestFacts };
type AddressFormat = 'json' | 'text' | 'cidr';

/** Routes below `/probes`, and `/probe/ips`. */
export function probeRoutes(context: Context): readonly Route[] {
  const answer = (row: ProbeRow) => probeAnswer(row, context.now(), lostAfterSeconds * 1_000);
  const addresses = (format: AddressFormat | undefined, request: RequestFacts) =>
    answerAddresses(context, format ?? wantedFormat(request));
  return [
    handle(listProbesRoute, async ({ caller, query }) => {
      const { page, page_size, workspace_id: workspaceId } = query;
      if (workspaceId !== undefined) requireRole(caller, workspaceId, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) =>
        listProbes(scope, tx, { limit: page_size, offset: (page - 1) * page_size, workspaceId }),
      );
      return { probes: rows.map(answer), total, page, page_size };
    }),
    handle(getProbe, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, (tx) => findProbe(scope, tx, params.probe_id));
      const found = answer(present(row, params.probe_id));
      void request.reply.header('etag', `"${found.version}"`);
      return found;
    }),
    handle(updateProbe, async ({ caller, params, body, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, async (tx) => {
        const before = present(await findProbe(scope, tx, params.probe_id), params.probe_id);
        requireProbeRight(caller, before.workspace_id);
        requireVersion(request, before.version);
        if (!(await changeProbe(scope, tx, before, body))) {
          throw new Problem('version_mismatch', 'the probe was changed by somebody else meanwhile: read it again');
        }
        await record(tx, { caller, request }, before, {
          action: 'probe.updated',
          detail: { fields: Object.keys(body) },
        });
        return present(await findProbe(scope, tx, params.probe_id), params.probe_id);
      });
      context.bus.hint(dispatchSubject(row.id), { type: 'assignments' });
      context.bus.hint(probesChangedSubject, {});
      void request.reply.header('etag', `"${row.version}"`);
      return answer(row);
    }),
    handle(revokeProbeRoute, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        const before = present(await findProbe(scope, tx, params.probe_id), params.probe_id);
        requireProbeRight(caller, before.workspace_id);
        if (!(await revokeProbe(scope, tx, before.id))) present(undefined, before.id);
        await record(tx, { caller, request }, before, { action: 'probe.revoked', detail: { name: before.name } });
      });
      context.bus.hint(dispatchSubject(params.probe_id), { type: 'revoked' });
      context.bus.hint(probesChangedSubject, {});
    }),
    handle(liftQuarantineRoute, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        const probe = present(await findProbe(scope, tx, params.probe_id), params.probe_id);
        requireProbeRight(caller, probe.workspace_id);
        if (!(await liftQuarantine(scope, tx, probe, { userId: caller.userId, nowMs: context.now() })))
          throw new Problem('not_found', `probe ${probe.id} is in no quarantine`);
        await record(tx, { caller, request }, probe, {
          action: 'probe.quarantine_lifted',
          detail: { name: probe.name },
        });
      });
      announce(context);
    }),
    handle(createProbeJoinToken, ({ caller, body, request }) => makeJoinToken(context, { caller, request }, body)),
    handle(listProbeAddresses, async ({ query, request }) => addresses(query.format, request)),
    handle(listProbeAddressesAtRoot, async ({ query, request }) => addresses(query.format, request)),
  ];
}

function present(row: ProbeRow | undefined, probeId: number): ProbeRow {
  if (row === undefined) throw new Problem('not_found', `there is no probe ${probeId}`);
  return row;
}

/** Public probes belong to administrators, private ones to owners of their workspace. */
function requireProbeRight(caller: Caller, workspaceId: number | null): void {
  if (workspaceId !== null) requireRole(caller, workspaceId, 'owner');
  else if (!caller.isAdministrator)
    throw new Problem('forbidden', 'public probes belong to the administrators of the installation');
}

/** A token that lets one machine in as a probe; it is shown in this answer and never again. */
async function makeJoinToken(
  context: Context,
  { caller, request }: Actor,
  body: InputOf<typeof createProbeJoinToken>['body'],
) {
  const workspaceId = body.workspace_id ?? null;
  requireProbeRight(caller, workspaceId);
  const authority = await loadAuthority(context.database.worker, context.sealer, context.now());
  const scope = scopeOf(caller);
  const { name, region } = body;
  const made = await inScope(context.database.api, scope, async (tx) => {
    const token = await createJoinToken(tx, {
      name,
      region,
      workspaceId,
      minutes: body.expires_in_minutes,
      createdBy: caller.userId,
      fingerprint: authority.fingerprint,
      random: randomBytes,
    });
    await recordAudit(tx, caller, request, {
      action: 'join_token.created',
      subjectType: 'join_token',
      subjectId: token.id,
      ...(workspaceId === null ? {} : { workspaceId }),
      detail: { name, region },
    });
    return token;
  });
  return {
    id: made.id,
    token: made.token,
    command: joinCommand(context.addresses.enrolment, made.token),
    name,
    region,
    workspace_id: workspaceId,
    expires_at: new Date(made.expiresAtMs).toISOString(),
  };
}

function record(
  tx: Transaction,
  { caller, request }: Actor,
  probe: ProbeRow,
  { action, detail }: Required<Pick<AuditEvent, 'action' | 'detail'>>,
): Promise<void> {
  return recordAudit(tx, caller, request, {
    action,
    subjectType: 'probe',
    subjectId: probe.id,
    ...(probe.workspace_id === null ? {} : { workspaceId: probe.workspace_id }),
    detail,
  });
}

function requireVersion(request: RequestFacts, version: number): void {
  const wanted = request.header('if-match');
  if (wanted === undefined || wanted.trim() === '*') return;
  const isSame = wanted
    .split(',')
    .some((tag) => tag.trim().replace(/^W\//u, '').replaceAll('"', '') === String(version));
  if (!isSame) throw new Problem('version_mismatch', `the probe has version ${version} by now: read it again`);
}

function wantedFormat(request: RequestFacts): 'json' | 'text' {
  const accept = request.header('accept') ?? '';
  return /\btext\/plain\b/u.test(accept) && !/\bapplication\/json\b/u.test(accept) ? 'text' : 'json';
}

async function answerAddresses(
  context: Context,
  format: AddressFormat,
): Promise<{ addresses: string[]; cidrs: string[] } | OtherText> {
  const { worker } = context.database;
  const [probes, ofReplicas] = await Promise.all([publicProbeAddresses(worker), replicaSourceAddresses(worker)]);
  const addresses = allowList([...probes, { stated: [...advertised(context), ...ofReplicas], routed: [], seen: null }]);
  const cidrs = addresses.map(asCidr);
  if (format === 'json') return { addresses, cidrs };
  const text = (format === 'cidr' ? cidrs : addresses).map((line) => `${line}\n`).join('');
  return new OtherText(text, 'text/plain; charset=utf-8');
}

/** The control plane's public addresses as the settings know them: behind one NAT, what comes in by them also leaves by them. */
function advertised(context: Context): string[] {
  return Object.values(context.addresses)
    .map((address) => address.replace(/:\d+$/u, '').replace(/^\[|\]$/gu, ''))
    .filter(isGlobalAddress);
}
