import type { TestContext } from '@parallax/testkit';
import { quietLog } from '@parallax/testkit';
import { scheduledReportSchema } from '@parallax/api-contract';
import type { ScheduledReport } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { groupsApi } from '../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../monitoring/groups/testing.ts';
import { heartbeatsCapability } from '../../monitoring/heartbeats/index.ts';
import { webhookChecksCapability } from '../../monitoring/webhook-checks/index.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Database } from '../../platform/database/pools.ts';
import { mailConsumer, sendDue } from '../../platform/mail/job.ts';
import { smtpMailer } from '../../platform/mail/mailer.ts';
import { smtpOptions } from '../../platform/mail/smtp-options.ts';
import { mailServer } from '../../platform/mail/testing/mail-server.ts';
import type { MailServer, TakenMail } from '../../platform/mail/testing/mail-server.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { channelsCapability } from '../../response/channels/index.ts';
import { slaCapability } from '../sla/index.ts';
import { leaveReportsOfDeleted, leaveReportsOfMoved, scheduledReportsCapability } from './index.ts';
import { makeDue } from './job.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export type ReportsApi = GroupsApi & {
  /** Calls below `/scheduled-reports` as the owner. */
  readonly reports: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes a report of the owner; must succeed. */
  readonly report: (body?: Record<string, unknown>) => Promise<ScheduledReport>;
  /** Makes what is due, now or at an instant: only the job sees that clock, since access tokens go by it too. */
  readonly make: (atMs?: number) => Promise<void>;
  readonly mails: MailServer;
  /** Sends what waits. @returns the mails that the server took by it */
  readonly send: () => Promise<readonly TakenMail[]>;
  /** The newest run of a report. */
  readonly lastRun: (id: number) => Promise<Record<string, unknown>>;
  /** A file of a run. */
  readonly file: (path: string) => Promise<{ readonly headers: Headers; readonly bytes: Buffer }>;
};

/** For tests: the API with subjects of every kind and scheduled reports, a real mail server, and a job that works when it is told to. */
export async function reportsApi(
  t: TestContext,
  context: Partial<Context> = {},
  database?: Database,
): Promise<ReportsApi> {
  const mails = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${mails.port}`), {
    name: 'Parallax',
    address: 'noreply@parallax.example',
  });
  const api = await groupsApi(t, {
    context: { mailer, publicUrl: 'https://parallax.example', ...context },
    ...(database === undefined ? {} : { database }),
    monitors: { onMonitorDeleted: [leaveReportsOfDeleted], onMonitorsMoved: [leaveReportsOfMoved] },
    more: [
      heartbeatsCapability,
      webhookChecksCapability,
      channelsCapability,
      slaCapability,
      scheduledReportsCapability,
    ],
  });
  await api.database.worker.query(sql.unsafe`update users set email_verified = true where id = ${api.owner.id}`);
  const reports: ReportsApi['reports'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/scheduled-reports${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  return {
    ...api,
    reports,
    report: async (body = {}) => {
      const made = await reports('POST', '', { workspace_id: api.workspaceId, name: 'Report', ...body });
      if (made.status !== 201) throw new Error(`create: ${made.status} ${made.text}`);
      return scheduledReportSchema.parse(made.body);
    },
    make: (atMs) => makeDue({ ...api.context, now: () => atMs ?? Date.now() }, quietLog),
    mails,
    send: async () => {
      const before = mails.taken.length;
      while ((await workOnce({ ...api.context, database: api.database }, [mailConsumer])) > 0);
      while ((await sendDue(api.context, quietLog)) > 0);
      return mails.taken.slice(before);
    },
    lastRun: async (id) => {
      const list = await reports('GET', `/${id}/runs`);
      const [run] = list.body['runs'] as Record<string, unknown>[];
      if (run === undefined) throw new Error(`no run: ${list.text}`);
      return run;
    },
    file: async (path) => {
      const answer = await fetch(`${api.url}/api/v1/scheduled-reports${path}`, {
        headers: { authorization: `Bearer ${api.token}` },
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${bytes.toString()}`);
      return { headers: answer.headers, bytes };
    },
  };
}
