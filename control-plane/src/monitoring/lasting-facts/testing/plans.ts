import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';

export type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
};

/** What a statement read of a table, and how. */
type Read = { readonly type: string; readonly relation: string; readonly rows: number };

/** For tests: the tables that a plan reads, with the rows that were looked at, those for nothing included. */
export function nodesOf(plan: Plan): Read[] {
  const { 'Node Type': type, 'Relation Name': relation, Plans: plans = [] } = plan;
  const rows = ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0)) * (plan['Actual Loops'] ?? 1);
  return [...(relation === undefined ? [] : [{ type, relation, rows }]), ...plans.flatMap(nodesOf)];
}

const explained = z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.custom<Plan>() })) });

/** For tests: the transaction, with the plan of each statement as it was executed; what it writes is taken back and done again. */
export function explaining(tx: Transaction, seen: (plan: Plan) => void): Transaction {
  const looked =
    (name: 'any' | 'query') =>
    async (query: Parameters<Transaction['any']>[0]): Promise<unknown> => {
      await tx.query(sql.unsafe`savepoint plan`);
      const explain = { ...query, sql: `explain (analyze, format json) ${query.sql}`, parser: explained };
      seen((await tx.one(explain))['QUERY PLAN'][0]?.Plan as Plan);
      await tx.query(sql.unsafe`rollback to savepoint plan`);
      return tx[name](query);
    };
  return new Proxy(tx, {
    get: (target, key) => (key === 'any' || key === 'query' ? looked(key) : (Reflect.get(target, key) as unknown)),
  });
}
