import { verifySlaRoute } from '@parallax/api-contract';
import { verifyEd25519 } from '@parallax/pki';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { findSubject } from '../../statistics/index.ts';
import { brokenAt, digestAt, newerEntries } from '../ledger/queries.ts';
import { findSeal } from '../seal.ts';
import type { FoundSeal, SealFields } from '../seal.ts';
import { reportKey } from '../signing/gateway.ts';
import type { ReportKey } from '../signing/gateway.ts';
import { noReport, verdictOf } from './verdict.ts';
import type { LedgerFacts, SealOrigin } from './verdict.ts';

/** Says of an exported file whether it is genuine and still holds. */
export function verifyRoutes(context: Context): Route[] {
  return [
    handle(verifySlaRoute, async ({ file, caller }) => {
      const seal = findSeal(file.bytes);
      if (seal === undefined) return noReport();
      const origin = originOf(seal, await reportKey(context));
      if (origin !== 'own') return verdictOf(seal, origin, null);
      const scope = scopeOf(caller);
      const facts = await inScope(context.database.api, scope, (tx) => ledgerFacts(tx, scope, seal.fields));
      return verdictOf(seal, origin, facts);
    }),
  ];
}

function originOf(seal: FoundSeal, key: ReportKey): SealOrigin {
  if (seal.fields.key !== key.name) return 'foreign';
  return verifyEd25519(key.publicKey, seal.signed, seal.signature) ? 'own' : 'forged';
}

async function ledgerFacts(transaction: Transaction, scope: Scope, seal: SealFields): Promise<LedgerFacts | null> {
  const subject = await findSubject(transaction, scope, seal.monitorId);
  if (subject === null) return null;
  const { monitorId, chain, seq } = seal;
  const digest = seq === 0 ? undefined : await digestAt(transaction, monitorId, chain, seq);
  return {
    monitor: { id: subject.id, name: subject.name },
    currentChain: subject.sla_chain,
    digest: digest === undefined || digest === null ? digest : digest.toString('hex'),
    brokenAt: digest === undefined || digest === null ? null : await brokenAt(transaction, monitorId, chain, seq),
    newer: await newerEntries(transaction, monitorId, chain, seq),
  };
}
