import { readSlaLedgerRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { iso, ofSubject } from '../../statistics/index.ts';
import { headAnswer } from '../answer.ts';
import { ledgerPage } from './queries.ts';

/** The chain of what was told of a monitor's days. */
export function ledgerRoutes(context: Context): Route[] {
  return [
    handle(readSlaLedgerRoute, ({ params, query, caller }) =>
      ofSubject(context, caller, params.monitor_id, async (tx, subject) => {
        const { page, page_size: pageSize, chain = subject.sla_chain } = query;
        const { entries, head } = await ledgerPage(tx, subject.id, chain, { page, pageSize });
        return {
          chain,
          is_current: chain === subject.sla_chain,
          head: headAnswer(chain, head),
          entries: entries.map((entry) => ({
            seq: entry.seq,
            kind: entry.kind,
            day: entry.day,
            entry: entry.entry,
            digest: entry.digest.toString('hex'),
            appended_at: iso(entry.appended_at),
          })),
          total: head.seq,
          page,
          page_size: pageSize,
        };
      }),
    ),
  ];
}
