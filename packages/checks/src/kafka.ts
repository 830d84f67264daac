import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { inTime } from './data/in-time.ts';
import { scramFinal, scramFirst, scramVerified } from './data/scram.ts';
import { type Api, apis, ask, bytes, int32, type KafkaReader, text } from './kafka/wire.ts';
import { addressFields, directTls, loginFields, tlsFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { printable } from './net/lines.ts';
import type { Session } from './net/session.ts';
import { Ended, stop } from './net/talk.ts';

/** Settings of `kafka`. */
export const kafkaSettings = lazily(() =>
  z
    .strictObject({
      ...addressFields(),
      ...tlsFields(),
      ...directTls(),
      /** How the password is sent. */
      login_method: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).default('plain'),
      ...loginFields(),
      /** Has to exist, with a leader for each partition. */
      topic: z
        .string()
        .regex(/^[A-Za-z0-9._-]{1,249}$/, 'A topic has letters, digits, dots, underscores and hyphens.')
        .optional(),
      /** Fewer brokers in the cluster than these fail the check. */
      min_brokers: z.int().min(1).max(10_000).default(1),
      /** Fewer replicas in sync for any partition of the topic than these fail the check. */
      min_in_sync: z.int().min(1).max(100).default(1),
    })
    .refine((all) => all.password === undefined || all.username !== undefined, {
      message: 'A password needs a user name.',
      path: ['username'],
    }),
);
export type KafkaSettings = z.infer<ReturnType<typeof kafkaSettings>>;

/** A Kafka broker: version, login, the brokers of the cluster and the state of a topic. Brokers that it names are not visited. */
export const kafka = conversation({
  type: 'kafka',
  summary: 'A Kafka broker: login, cluster size, state of a topic',
  reference: {
    targets: ['kafka.example.com:9092', 'kafka://kafka.example.com'],
    settings: { topic: 'orders' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      brokers: 'Brokers of the cluster.',
      cluster: 'Identity of the cluster.',
      controller: 'Number of the broker that leads the cluster.',
      partitions: 'Partitions of the topic.',
      leaderless: 'Those without a leader.',
      under_replicated: 'Those with replicas that lag behind.',
    },
  },
  settings: kafkaSettings,
  peer: 'a Kafka broker',
  codes: { breach: 'broker_protocol', closed: 'broker_closed' },
  target: { plain: { kafka: 9092 }, secure: { kafkas: 9093 } },
  talk: async (session, settings) => {
    await session.open();
    const { trace, userAgent } = session.context;
    const clientId = printable(userAgent, 100);
    const versions = await supported(session, clientId);
    if (settings.username !== undefined) {
      await logIn(session, clientId, settings.username, settings);
      trace?.('login', 'accepted');
    }
    const cluster = await metadata(session, clientId, versions, settings.topic, settings.username !== undefined);
    trace?.('answer', `${cluster.brokers} brokers`);
    judge(cluster, settings, session);
  },
});

type Range = { readonly min: number; readonly max: number };

/** What the broker understands, by the number of the API. Asked in version 0, which every broker answers before a login. */
async function supported(session: Session, clientId: string): Promise<ReadonlyMap<number, Range>> {
  return ask(session, { api: 'apiVersions', version: 0, clientId, body: [] }, (body) => {
    const error = body.int16();
    if (error !== 0) session.breach(`It does not say what it understands (error ${error}).`);
    return new Map(body.list((one) => [one.int16(), { min: one.int16(), max: one.int16() }] as const));
  });
}

/** The newest version up to `newest` that both sides have. */
function versionOf(
  session: Session,
  api: Api,
  versions: ReadonlyMap<number, Range>,
  oldest: number,
  newest: number,
): number {
  const theirs = versions.get(apis[api]);
  const version = Math.min(newest, theirs?.max ?? -1);
  if (version < Math.max(oldest, theirs?.min ?? 0))
    session.breach(`It has no version of the request "${api}" in common with this check (${oldest} to ${newest}).`);
  return version;
}

async function logIn(session: Session, clientId: string, username: string, settings: KafkaSettings): Promise<void> {
  const { login_method: method, password = '' } = settings;
  const mechanism = method.toUpperCase();
  const offered = await ask(
    session,
    { api: 'saslHandshake', version: 1, clientId, body: [text(mechanism)] },
    (body) => ({
      error: body.int16(),
      mechanisms: body.list((one) => one.text() ?? ''),
    }),
  );
  if (offered.error !== 0) {
    const said = session.quote(offered.mechanisms.join(' '));
    refused(`The broker does not take a login by ${mechanism} here (error ${offered.error}). ${said}`);
  }
  const step = (content: string) => authenticate(session, clientId, content);
  if (method === 'plain') {
    await step(`\0${username}\0${password}`);
    return;
  }
  const hash = method === 'scram-sha-256' ? 'sha256' : 'sha512';
  const first = scramFirst(username, randomBytes(18).toString('base64'));
  const challenge = await step(first.message);
  const final = await inTime(session, scramFinal(first, challenge, password, settings, hash));
  if (typeof final === 'string') session.breach(final);
  if (!scramVerified(final, await step(final.message)))
    refused('The broker could not prove that it knows the password itself.');
}

function authenticate(session: Session, clientId: string, content: string): Promise<string> {
  return ask(session, { api: 'saslAuthenticate', version: 0, clientId, body: [bytes(content)] }, (body) => {
    const error = body.int16();
    const message = body.text() ?? '';
    if (error !== 0) refused(`The broker refused the credentials. ${session.quote(message)}`);
    return body.bytes().toString('utf8');
  });
}

function refused(message: string): never {
  stop('broker_auth', message);
}

type Partition = {
  readonly error: number;
  readonly leader: number;
  readonly replicas: number;
  readonly inSync: number;
};
type Cluster = {
  readonly id: string;
  readonly brokers: number;
  readonly controller: number;
  readonly topic: { readonly error: number; readonly partitions: readonly Partition[] } | undefined;
};

async function metadata(
  session: Session,
  clientId: string,
  versions: ReadonlyMap<number, Range>,
  topic: string | undefined,
  loggedIn: boolean,
): Promise<Cluster> {
  // Version 4 is the first that can be told not to make the topic; 7 the last before the compact form.
  const version = versionOf(session, 'metadata', versions, 4, 7);
  const topics = topic === undefined ? [int32(0)] : [int32(1), text(topic)];
  try {
    return await ask(session, { api: 'metadata', version, clientId, body: [...topics, Buffer.from([0])] }, (body) =>
      readMetadata(body, version),
    );
  } catch (error) {
    if (loggedIn || !(error instanceof Ended) || error.failure.code !== 'broker_closed') throw error;
    refused('The broker closed the connection when it was asked without a login; it probably wants one.');
  }
}

function readMetadata(body: KafkaReader, version: number): Cluster {
  body.int32(); // throttle time
  const brokers = body.list((one) => {
    one.int32(); // node
    one.text(); // host: a second hop that is not taken
    one.int32(); // port
    one.text(); // rack
  });
  const id = body.text() ?? '';
  const controller = body.int32();
  const topics = body.list((one) => {
    const error = one.int16();
    one.text();
    one.bool();
    const partitions = one.list((each) => {
      const state = { error: each.int16(), id: each.int32(), leader: each.int32() };
      if (version >= 7) each.int32(); // epoch of the leader
      const replicas = each.list((replica) => replica.int32()).length;
      const inSync = each.list((replica) => replica.int32()).length;
      if (version >= 5) each.list((replica) => replica.int32()); // replicas that are offline
      return { ...state, replicas, inSync };
    });
    return { error, partitions };
  });
  return { id, brokers: brokers.length, controller, topic: topics[0] };
}

const leaderNotAvailable = 5;
const replicaNotAvailable = 9;
const notAuthorised = 29;

/** Throws what is wrong with the cluster or the topic, gravest first. */
function judge(cluster: Cluster, settings: KafkaSettings, session: Session): void {
  session.note('brokers', cluster.brokers);
  session.note('cluster', cluster.id);
  session.note('controller', cluster.controller);
  if (cluster.brokers < settings.min_brokers) {
    stop('broker_unavailable', `The cluster has ${cluster.brokers} brokers, fewer than ${settings.min_brokers}.`);
  }
  if (settings.topic === undefined) return;
  const wrong = (message: string): never => stop('broker_topic', `The topic ${settings.topic} ${message}`);
  const { topic } = cluster;
  if (topic?.error === notAuthorised)
    stop('broker_denied', `The broker does not let this user see the topic ${settings.topic}.`);
  if (topic === undefined || (topic.error !== 0 && topic.error !== leaderNotAvailable))
    return wrong(`does not exist or cannot be used (error ${topic?.error ?? 'unknown'}).`);
  const { partitions } = topic;
  const leaderless = partitions.filter(
    (each) => each.leader < 0 || (each.error !== 0 && each.error !== replicaNotAvailable),
  );
  session.note('partitions', partitions.length);
  session.note('leaderless', leaderless.length);
  session.note('under_replicated', partitions.filter((each) => each.inSync < each.replicas).length);
  if (leaderless.length > 0 || partitions.length === 0)
    return wrong(`has ${leaderless.length} of ${partitions.length} partitions without a leader.`);
  const fewest = Math.min(...partitions.map((each) => each.inSync));
  if (fewest < settings.min_in_sync)
    return wrong(`has a partition with ${fewest} replicas in sync, fewer than ${settings.min_in_sync}.`);
}
