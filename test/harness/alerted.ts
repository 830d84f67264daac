import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from '@parallax/testkit';
import type { MailServer, TakenMail } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import { apiClient } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { eventually } from './processes.ts';

/* For tests of alerts from end to end: who is told, and by what. */

const sender = 'noreply@parallax.test';

/** Settings by which the product hands its mail to the server. */
export const mailsTo = (server: MailServer): Record<string, string> => ({
  PARALLAX_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  PARALLAX_MAIL_FROM: `Parallax <${sender}>`,
});

/** Mails to an address, oldest first. */
export function mailsFor(server: MailServer, address: string): readonly TakenMail[] {
  return server.taken.filter(({ to }) => to.includes(address));
}

/** Waits for the mail to an address whose subject or text matches, behind the first `after` of them. */
export function mailThat(server: MailServer, address: string, pattern: RegExp, after = 0): Promise<TakenMail> {
  return eventually(
    `a mail to ${address} with ${pattern}; there are: ${subjects(server, address)}`,
    async () =>
      mailsFor(server, address)
        .slice(after)
        .find(({ parsed }) => pattern.test(`${parsed.subject}\n${parsed.text}`)),
    { timeoutMs: 90_000 },
  );
}

const subjects = (server: MailServer, address: string): string =>
  mailsFor(server, address)
    .map(({ parsed }) => parsed.subject)
    .join(' | ');

export type Person = { readonly email: string; readonly api: ApiClient; readonly workspaceId: number };

/** Registers somebody and confirms the address by the link in the mail, as a person does: nothing else is set up. */
export async function newPerson(baseUrl: string, server: MailServer, email: string): Promise<Person> {
  const nobody = apiClient(baseUrl);
  const account = { email, password: 'a long enough passphrase' };
  await nobody.call('POST', '/api/v1/auth/register', 201, account);
  const letter = await mailThat(server, email, /confirm-email/);
  const token = /\/auth\/confirm-email#token=([\w-]+)/.exec(letter.parsed.text ?? '')?.[1];
  await nobody.call('POST', '/api/v1/auth/confirm-email', 200, { token });
  const { access_token: bearer } = await nobody.call<{ access_token: string }>(
    'POST',
    '/api/v1/auth/login',
    200,
    account,
  );
  const api = nobody.withToken(bearer);
  const { workspaces } = await api.call<{ workspaces: { id: number }[] }>('GET', '/api/v1/workspaces', 200);
  const workspaceId = workspaces[0]?.id;
  if (workspaceId === undefined) throw new Error(`${email} has no workspace`);
  return { email, api, workspaceId };
}

type Watched = { readonly id: number; readonly status: () => Promise<string> };

/** A monitor that looks every second, and is UP. */
export async function watch(person: Person, name: string, url: string): Promise<Watched> {
  const { id } = await person.api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
    workspace_id: person.workspaceId,
    name,
    url,
    interval_seconds: 1,
    timeout_seconds: 1,
  });
  const status = async (): Promise<string> =>
    (await person.api.call<{ status: string }>('GET', `/api/v1/monitors/${id}`, 200)).status;
  await eventually(`${name} is UP`, async () => (await status()) === 'UP', { timeoutMs: 60_000 });
  return { id, status };
}

type HistoryEntry = {
  readonly id: number;
  readonly alert_id: number | null;
  readonly occasion: string;
  readonly incident_id: number | null;
  readonly kind: string;
  readonly event: string;
  readonly status: string;
  readonly reason: string | null;
  readonly channel: string;
  readonly target_masked: string;
  readonly attempts: number;
  readonly latency_ms: number | null;
  readonly error_code: string | null;
  readonly text: string | null;
};

/** What was told in somebody's workspace, oldest first. */
export async function historyOf({ api, workspaceId }: Person): Promise<readonly HistoryEntry[]> {
  const { history } = await api.call<{ history: HistoryEntry[] }>(
    'GET',
    `/api/v1/alerts/history?workspace_id=${workspaceId}&page_size=100`,
    200,
  );
  return history.toReversed();
}

/** A configuration for webhooks, of one destination `ops` that signs with the secret. @returns the target of an alert */
export async function webhookTarget(person: Person, receiver: WebhookReceiver, secret: string) {
  const { id } = await person.api.call<{ id: number }>('POST', '/api/v1/alert-channel-configs', 201, {
    channel: 'webhook',
    settings: { destinations: [{ key: 'ops', name: 'Operations', url: receiver.url, secret }] },
  });
  return { channel: 'webhook', config_id: id, target: 'ops' };
}

/** Makes an alert of everything in somebody's workspace. @returns its number */
export async function newAlert({ api, workspaceId }: Person, body: Readonly<Record<string, unknown>>): Promise<number> {
  const { id } = await api.call<{ id: number }>('POST', '/api/v1/alerts', 201, { workspace_id: workspaceId, ...body });
  return id;
}

/** Waits for the call whose body matches, behind the first `after` of them. */
export function callThat(receiver: WebhookReceiver, type: string, after = 0): Promise<Received> {
  return eventually(
    `a call of the type ${type}`,
    async () => receiver.received.slice(after).find(({ body }) => body['type'] === type),
    { timeoutMs: 90_000 },
  );
}

/** The incident that lasts in somebody's workspace. */
export function openIncident({ api, workspaceId }: Person): Promise<Incident> {
  return eventually(
    'an open incident',
    async () => {
      const path = `/api/v1/incidents?workspace_id=${workspaceId}`;
      const { incidents } = await api.call<{ incidents: Incident[] }>('GET', path, 200);
      return incidents.find(({ status }) => status !== 'resolved');
    },
    { timeoutMs: 60_000 },
  );
}

type Incident = { readonly id: number; readonly status: string; readonly is_held: boolean };

/** A webhook call as it arrived. */
type Received = {
  readonly atMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
};

export type WebhookReceiver = { readonly url: string; readonly received: readonly Received[] };

/** A real server that takes whatever is posted to it; it ends with the test. */
export async function webhookReceiver(t: TestContext): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse, atMs: number): Promise<void> => {
    const body = await text(request);
    received.push({ atMs, headers: request.headers, text: body, body: JSON.parse(body) as Received['body'] });
    response.end('{}');
  };
  const server = createServer((request, response) => void take(request, response, Date.now()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

/** Whether a call carries a signature of Standard Webhooks by this secret, over what arrived. */
export function isSigned({ headers, text: body }: Received, secret: string): boolean {
  const [id, at] = [headers['webhook-id'], headers['webhook-timestamp']];
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(at)}.${body}`)
    .digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .some((one) => {
      const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
      return one.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
    });
}
