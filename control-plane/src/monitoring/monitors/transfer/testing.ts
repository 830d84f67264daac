import { z } from 'zod';
import type { TestAnswer } from '../../../identity/testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const reportSchema = z.object({
  dry_run: z.boolean(),
  format: z.string(),
  total: z.number(),
  created: z.number(),
  skipped: z.number(),
  failed: z.number(),
  rows: z.array(
    z.looseObject({
      row: z.number(),
      status: z.string(),
      name: z.string().nullable(),
      url: z.string().nullable(),
      monitor_id: z.number().optional(),
      code: z.string().optional(),
      warnings: z.array(z.string()),
    }),
  ),
});
export type TestReport = z.infer<typeof reportSchema>;

export type ImportCall = {
  readonly query?: string;
  readonly token?: string;
  readonly key?: string;
  /** Sent as the body itself instead of in a form. */
  readonly type?: string;
};

/** For tests: uploads a file in a form. */
export async function upload(
  api: Pick<MonitorsApi, 'url' | 'token'>,
  file: string | Uint8Array,
  { query = '', token, key, type }: ImportCall = {},
): Promise<TestAnswer> {
  const bytes = typeof file === 'string' ? Buffer.from(file) : Buffer.from(file);
  const form = new FormData();
  form.append('file', new Blob([bytes]), 'monitors.csv');
  const answer = await fetch(`${api.url}/api/v1/monitors/import/csv${query}`, {
    method: 'POST',
    headers: {
      ...(key === undefined ? { authorization: `Bearer ${token ?? api.token}` } : { 'x-api-key': key }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body: type === undefined ? form : bytes,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text) as Record<string, unknown>, text };
}

/** The same where the file has to be read. */
export async function imported(
  api: Pick<MonitorsApi, 'url' | 'token'>,
  file: string | Uint8Array,
  call: ImportCall = {},
): Promise<TestReport> {
  const answer = await upload(api, file, call);
  if (answer.status !== 200) throw new Error(`import: ${answer.status} ${answer.text}`);
  return reportSchema.parse(answer.body);
}

/** An export, without its byte order mark. */
export async function exported(api: Pick<MonitorsApi, 'call' | 'token'>, query = ''): Promise<string> {
  const answer = await api.call('GET', `/api/v1/monitors/export/csv${query}`, { token: api.token });
  if (answer.status !== 200) throw new Error(`export: ${answer.status} ${answer.text}`);
  return answer.text.replace(/^\ufeff/, '');
}
