import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { TestAnswer } from '../../../identity/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Database } from '../../../platform/database/pools.ts';
import { mailConsumer, sendDue } from '../../../platform/mail/job.ts';
import { smtpMailer } from '../../../platform/mail/mailer.ts';
import { smtpOptions } from '../../../platform/mail/smtp-options.ts';
import { mailServer } from '../../../platform/mail/testing/mail-server.ts';
import type { MailServer, TakenMail } from '../../../platform/mail/testing/mail-server.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { groupsApi } from '../../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../../monitoring/groups/testing.ts';
import { hostsOfPages, preparedPages, statusPagesCapability } from '../index.ts';
import { tellNews } from './news/news.job.ts';
import { sendDueNotices } from './sending/sender.job.ts';

const id = z.object({ id: z.number() });
const component = z.object({ component_id: z.string() });
const count = z.object({ n: z.number() });

/** A published page with two components, each of a monitor. */
export type TestPage = {
  readonly id: number;
  readonly slug: string;
  readonly monitors: readonly [number, number];
  readonly components: readonly [string, string];
};

export type SubscribersApi = GroupsApi & {
  readonly mails: MailServer;
  /** Makes a page. @param fields columns beside those of a usual one */
  readonly page: (fields?: { readonly subscribe?: readonly string[]; readonly name?: string }) => Promise<TestPage>;
  /** Sends a form to the path below `/status/`. */
  readonly form: (path: string, fields: readonly (readonly [string, string])[], from?: string) => Promise<TestAnswer>;
  /** Sends the mails that ask and wait. @returns those that the server took by it */
  readonly asked: () => Promise<readonly TakenMail[]>;
  /** Subscribes by mail, and confirms it by the link of the mail. @returns the path of the link, below `/status/` */
  readonly subscribed: (
    page: TestPage,
    address: string,
    more?: readonly (readonly [string, string])[],
  ) => Promise<string>;
  /** Writes active subscribers, without the form and its mail. */
  readonly manySubscribed: (page: TestPage, addresses: readonly string[]) => Promise<void>;
  /** Writes an automatic incident that began now. @returns its number */
  readonly outage: (monitorId: number, title?: string) => Promise<number>;
  /** Writes a public update. */
  readonly say: (
    incidentId: number,
    body: string,
    more?: { readonly kind?: string; readonly notify?: boolean },
  ) => Promise<void>;
  readonly resolve: (incidentId: number) => Promise<void>;
  /** Looks for news, and sends what is due. @returns the mails that the server took by it */
  readonly told: () => Promise<readonly TakenMail[]>;
  /** Sends what is due. @returns the mails that the server took by it */
  readonly sent: () => Promise<readonly TakenMail[]>;
  /** As if that much more time had passed since messages were sent and subscribers asked. */
  readonly pass: (seconds: number) => Promise<void>;
  readonly count: (from: ReturnType<typeof sql.fragment>) => Promise<number>;
};

/** The path of the link in a mail, below `/status/`. */
export function linkIn(mail: TakenMail | undefined): string {
  const [, path] =
    /https:\/\/parallax\.example\/status\/(\S+\/subscription\/plsp_\w+)/.exec(mail?.parsed.text ?? '') ?? [];
  if (path === undefined) throw new Error(`there is no link in ${mail?.parsed.text}`);
  return path;
}

/** For tests: pages as the public reads them, a real mail server, and jobs that work when they are told to. */
export async function subscribersApi(
  t: TestContext,
  context: Partial<Context> = {},
  database?: Database,
  server: Parameters<typeof mailServer>[1] = {},
): Promise<SubscribersApi> {
  const mails = await mailServer(t, server);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${mails.port}`), {
    name: 'Parallax',
    address: 'noreply@parallax.example',
  });
  const api = await groupsApi(t, {
    context: { mailer, publicUrl: 'https://parallax.example', ...context },
    ...(database === undefined ? {} : { database }),
    more: [statusPagesCapability],
    prepared: preparedPages,
    mappedHosts: hostsOfPages,
  });
  const { worker } = api.database;
  await worker.query(sql.unsafe`update users set email_verified = true`);
  let made = 0;
  const page: SubscribersApi['page'] = async ({ subscribe = ['email'], name = 'Shop' } = {}) => {
    made += 1;
    const slug = `shop-${made}`;
    const pageId = await worker.oneFirst(sql.type(id)`
      insert into status_pages (workspace_id, name, slug, is_published, timezone, subscribe)
      values (${api.workspaceId}, ${name}, ${slug}, true, 'Europe/Berlin', ${sql.array([...subscribe], 'text')}) returning id`);
    const item = async (place: number, shown: string) => {
      const monitor = await api.monitor();
      const componentId = await worker.oneFirst(sql.type(component)`
        insert into status_page_items (workspace_id, page_id, monitor_id, display_name, position)
        values (${api.workspaceId}, ${pageId}, ${monitor.id}, ${shown}, ${place}) returning component_id`);
      return [monitor.id, componentId] as const;
    };
    const [one, other] = [await item(0, 'Checkout'), await item(1, 'Search')];
    return { id: pageId, slug, monitors: [one[0], other[0]], components: [one[1], other[1]] };
  };
  const form: SubscribersApi['form'] = (path, fields, from) =>
    api.call('POST', `/status/${path}`, {
      body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ...(from === undefined ? {} : { from }),
    });
  const asked = async (): Promise<readonly TakenMail[]> => {
    const before = mails.taken.length;
    while ((await workOnce({ ...api.context, database: api.database }, [mailConsumer])) > 0);
    while ((await sendDue(api.context, quietLog)) > 0);
    return mails.taken.slice(before);
  };
  const sent = async (): Promise<readonly TakenMail[]> => {
    const before = mails.taken.length;
    // The rate has a test of its own.
    do await worker.query(sql.unsafe`update status_page_notices set tried_at = null`);
    while ((await sendDueNotices(api.context, quietLog)) > 0);
    return mails.taken.slice(before);
  };
  return {
    ...api,
    mails,
    page,
    form,
    asked,
    subscribed: async ({ slug }, address, more = []) => {
      const answer = await form(`${slug}/subscribe`, [['target', address], ...more]);
      if (answer.status !== 200) throw new Error(`subscribe: ${answer.status} ${answer.text}`);
      const link = linkIn((await asked()).find(({ to }) => to.includes(address)));
      const confirmed = await form(`${link}?action=confirm`, []);
      if (confirmed.status !== 200) throw new Error(`confirm: ${confirmed.status} ${confirmed.text}`);
      return link;
    },
    manySubscribed: async (of, addresses) => {
      const rows = addresses.map((address, index) => [
        address,
        api.context.sealer.seal(address, 'target of a page subscriber').toString('base64'),
        api.context.sealer.seal(`plsp_${index}`, 'link of a page subscriber').toString('base64'),
      ]);
      await worker.query(sql.unsafe`
        insert into status_page_subscribers (workspace_id, page_id, kind, target_sealed, target_hash, locale, state, token_hash, token_sealed,
          active_at)
        select ${api.workspaceId}, ${of.id}, 'email', decode(g.target, 'base64'), sha256(g.address::bytea), 'en', 'active',
          sha256(('token ' || g.address)::bytea), decode(g.token, 'base64'), now() - interval '1 minute'
        from ${sql.unnest(rows, ['text', 'text', 'text'])} as g (address, target, token)`);
    },
    outage: async (monitorId, title = 'db-7.internal does not answer') => {
      // A subject is in one open incident at a time.
      await worker.query(sql.unsafe`
        update incident_members set ended_at = clock_timestamp(), resolution = 'auto' where subject_id = ${monitorId} and ended_at is null`);
      const incidentId = await worker.oneFirst(sql.type(id)`
        insert into incidents (workspace_id, title, visibility, severity, is_manual, started_at, status)
        values (${api.workspaceId}, ${title}, 'auto', 'major', false, clock_timestamp(), 'open') returning id`);
      await worker.query(sql.unsafe`
        insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, is_manual)
        values (${api.workspaceId}, ${incidentId}, 'monitor', ${monitorId}, 'internal name', ${title}, clock_timestamp(), false)`);
      return incidentId;
    },
    say: async (incidentId, body, { kind = 'identified', notify = true } = {}) => {
      await worker.query(sql.unsafe`
        insert into incident_updates (workspace_id, incident_id, kind, body, is_public, notify)
        select i.workspace_id, i.id, ${kind}, ${body}, true, ${notify} from incidents i where i.id = ${incidentId}`);
    },
    resolve: async (incidentId) => {
      await worker.query(sql.unsafe`
        update incidents set status = 'resolved', resolution = 'auto', resolved_at = clock_timestamp() where id = ${incidentId}`);
    },
    sent,
    told: async () => {
      await tellNews(api.context, quietLog, null);
      return sent();
    },
    pass: async (seconds) => {
      const by = sql.fragment`make_interval(secs => ${seconds})`;
      await worker.query(sql.unsafe`
        update status_page_notices set due_at = due_at - ${by}, told_at = told_at - ${by}, leased_until = leased_until - ${by}`);
      await worker.query(sql.unsafe`
        update status_page_subscribers set asked_at = asked_at - ${by}, state_at = state_at - ${by}, challenge_due_at = challenge_due_at - ${by}`);
    },
    count: (from) => worker.oneFirst(sql.type(count)`select count(*)::integer as n from ${from}`),
  };
}
