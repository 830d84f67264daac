import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { txtRecordsOf } from '../../../platform/dns/txt-records.gateway.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { repeat } from '../../../platform/repeat.ts';
import { announceChanges } from '../pages/announce.gateway.ts';
import { markLost, noteMissing, takeDue } from './domains.queries.ts';
import type { DueDomain } from './domains.queries.ts';
import { lostLetter } from './lost-letter.ts';
import { isProven, proofName, standingAfter } from './proof.ts';

const everyMs = 300_000;
/** Looked at side by side: name servers that do not answer take five seconds each. */
const atOnce = 20;
/** A run ends then, however many are due: 10,000 domains are looked at within a day. */
const mostOfRun = 200;

/** Looks every day whether the proof of each verified domain still stands. */
export const domainRechecks: Service<Context> = {
  name: 'proofs of domains',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs,
      work: (isStopped) => recheckDomains(context, isStopped),
      onError: (error) =>
        log.warn({ err: error }, 'proofs of domains cannot be looked at; tried again in five minutes'),
    }),
};

/** One run over what is due. @returns how many were looked at */
export async function recheckDomains(context: Context, isStopped: () => boolean = () => false): Promise<number> {
  let looked = 0;
  while (looked < mostOfRun && !isStopped()) {
    const due = await takeDue(context.database.worker, context.now(), atOnce);
    await Promise.all(due.map((one) => recheck(context, one)));
    looked += due.length;
    if (due.length < atOnce) break;
  }
  return looked;
}

async function recheck(context: Context, due: DueDomain): Promise<void> {
  const answer = await txtRecordsOf(proofName(due.domain), context.dnsServers);
  const { missingMs, isLost } = standingAfter(isProven(answer, due.proof), due.missing_since, context.now());
  if (isLost) return loseDomain(context, due);
  if (missingMs !== due.missing_since) await noteMissing(context.database.worker, due, missingMs);
}

async function loseDomain(context: Context, due: DueDomain): Promise<void> {
  const { database, sealer, publicUrl, frontendUrl } = context;
  await database.worker.transaction(async (tx) => {
    const lost = await markLost(tx, due);
    if (lost === null) return;
    await announceChanges(tx, [{ id: due.page_id, workspace_id: due.workspace_id }]);
    if (lost.email === null) return;
    const { domain, proof } = due;
    const letter = lostLetter(lost.locale, { page: lost.name, domain, proof, url: frontendUrl ?? publicUrl });
    await enqueueMail(tx, sealer, { to: lost.email, ...renderLetter(letter) });
  });
  context.bus.hint(outboxSubject, {});
}
