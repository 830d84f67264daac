import { importLimits, monitorImportSchema } from '@parallax/api-contract';
import type { MonitorImport } from '@parallax/api-contract';
import { AsCodeError, printable } from '../as-code/index.ts';
import type { Client } from '../as-code/index.ts';
import type { ImportFile } from './gateway.ts';
import { kumaParts } from './kuma-monitor.ts';
import type { KumaFault } from './kuma-monitor.ts';
import { showRow } from './show.ts';

export type ImportWish = {
  readonly client: Client;
  /** Undefined: each row goes where it says, else to the default workspace. */
  readonly workspaceId: number | undefined;
  readonly isDryRun: boolean;
  readonly onDuplicate: 'skip' | 'create';
  /** Told line by line. */
  readonly print: (line: string) => void;
};

/**
 * Sends a file to the import of the REST API, in parts where it is a database with more monitors than a request may have, and prints what
 * became of each row.
 * @returns whether a row has failed
 * @throws AsCodeError for what is refused as a whole
 */
export async function importFile(file: ImportFile, wish: ImportWish): Promise<boolean> {
  const { requests, faults } = requestsOf(file);
  const total = { created: 0, skipped: 0, failed: faults.length };
  if (requests.length === 0 && faults.length === 0) throw new AsCodeError('the database has no monitors');
  for (const { name, reason } of faults) wish.print(`! monitor ${printable(JSON.stringify(name))}: ${reason}`);
  for (const request of requests) {
    const report = await send(request, wish);
    for (const row of report.rows) for (const line of showRow(row, wish.isDryRun)) wish.print(line);
    total.created += report.created;
    total.skipped += report.skipped;
    total.failed += report.failed;
  }
  wish.print(
    `${wish.isDryRun ? 'to create' : 'created'}: ${total.created}, skipped: ${total.skipped}, failed: ${total.failed}`,
  );
  return total.failed > 0;
}

type Request = { readonly type: string; readonly bytes: Buffer };

function requestsOf(file: ImportFile): {
  readonly requests: readonly Request[];
  readonly faults: readonly KumaFault[];
} {
  if (file.kind === 'text') return { requests: [file], faults: [] };
  const { parts, faults } = kumaParts(file.monitors, importLimits);
  const requests = parts.map(({ monitors }) => ({
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify({ monitorList: monitors })),
  }));
  return { requests, faults };
}

async function send(file: Request, { client, workspaceId, isDryRun, onDuplicate }: ImportWish): Promise<MonitorImport> {
  const query = new URLSearchParams({
    ...(workspaceId === undefined ? {} : { workspace_id: String(workspaceId) }),
    dry_run: String(isDryRun),
    on_duplicate: onDuplicate,
  });
  const answer = await client.send('POST', `/monitors/import/csv?${query.toString()}`, { file });
  const parsed = monitorImportSchema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new AsCodeError('the import was answered in a way that this version does not know');
}
