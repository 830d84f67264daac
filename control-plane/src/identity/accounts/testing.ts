import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { mailKind, openMail } from '../../platform/mail/mail.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import type { TestApi } from '../testing.ts';
import { accountsCapability } from './index.ts';

const sealedRow = z.object({ id: z.bigint(), payload: z.object({ sealed: z.string() }) });

/** For tests: does what waits in the outbox and gives the mails that it led to, in order, each once. */
export async function takeMails(api: TestApi): Promise<readonly Mail[]> {
  const { worker } = api.database;
  const mails: Mail[] = [];
  const collect = async (): Promise<void> => {
    const rows = await worker.any(sql.type(sealedRow)`
      select id, payload from outbox where kind = ${mailKind} and done_at is null order by id`);
    for (const { payload } of rows) mails.push(openMail(api.context.sealer, payload));
    await worker.query(sql.unsafe`update outbox set done_at = now() where kind = ${mailKind} and done_at is null`);
  };
  await collect();
  while ((await workOnce(api.context, accountsCapability.consumers ?? [])) > 0) await collect();
  return mails;
}

/** For tests: the token in the link of a mail. */
export function tokenIn(mail: Mail | undefined): string {
  return /#token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? 'no token';
}
