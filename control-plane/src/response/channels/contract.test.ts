import { createServer } from 'node:http';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import {
  type HostilePeer,
  hostilePeerNames,
  openHostile,
} from '../../../../packages/checks/src/testing/hostile-peers.ts';
import { engineRecordsIn } from '../../testing/engine-records.ts';
import { messageKinds } from '../messages/message.ts';
import { shownSettings } from './configs/shown-settings.ts';
import { deliveryErrorCodes } from './delivery-error.ts';
import type { DeliveryFault } from './delivery-error.ts';
import { channels } from './registry.ts';
import type { AnyChannel } from './registry.ts';
import { secretValues } from './secret-values.ts';
import { hostileMessage, hostileTexts, longMessage, resolvedMessage, sampleMessage } from './testing/messages.ts';
import { startStandIn } from './testing/stand-in.ts';
import type { RunningStandIn, StandIn, Trouble } from './testing/stand-in.ts';
import { standIns } from './testing/stand-ins/all.ts';
import { tryChannel } from './testing/try-channel.ts';
import type { TrialResult } from './testing/try-channel.ts';

/*
 * What every channel must do, over the registry: a channel that is added there is tried here. PARALLAX_CONTRACT_CHANNELS=ntfy,gotify tries these.
 */

t.setTimeout(600_000);

const only = process.env['PARALLAX_CONTRACT_CHANNELS']?.split(',');
const tried = channels.filter(({ name }) => only?.includes(name) !== false);
const standInOf = (channel: AnyChannel): StandIn | undefined => standIns.find((each) => each.channel === channel.name);
const messengerBotToken = '123456:installation-bot-token-credential';

/** What each trouble may be to a message. */
const faults: Readonly<Record<Trouble, readonly DeliveryFault[]>> = {
  // Credentials of one destination concern that one only.
  refused_credentials: ['configuration', 'target'],
  unknown_target: ['target'],
  rate_limited: ['passing'],
  refused_message: ['message'],
  service_unavailable: ['passing'],
};

void t.test('names and aliases are words of the API, none is taken twice, and all are tried', async (t) => {
  const all = channels.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  t.equal(new Set(all).size, all.length);
  for (const name of all) t.match(name, /^[a-z][a-z0-9-]{0,49}$/);
  for (const { channel } of standIns)
    t.ok(
      channels.some(({ name }) => name === channel),
      `${channel} is a channel`,
    );
});

for (const channel of tried) {
  const standIn = standInOf(channel);
  void t.test(`${channel.name}: its settings are strict and bounded, and every field is described`, async (t) => {
    settingsHold(t, channel);
    if (standIn === undefined) return;
    const settings = standIn.settings('https://service.example.com');
    t.ok(
      channel.settings.safeParse(settings).success,
      JSON.stringify(channel.settings.safeParse(settings).error?.issues),
    );
    t.notOk(channel.settings.safeParse({ ...settings, zzz: 1 }).success, 'an unknown field is refused');
    const shown = JSON.stringify(shownSettings(channel, channel.settings.parse(settings)));
    for (const secret of secretValues(channel, settings)) t.notOk(shown.includes(secret), 'no credential is shown');
  });
  if (standIn === undefined) {
    t.comment(`${channel.name} has no stand-in: what it sends is not tried here`);
    continue;
  }
  void t.test(`${channel.name}: what it sends is what the service documents`, (t) => sends(t, channel, standIn));
  void t.test(`${channel.name}: what the service refuses is called by its name`, (t) => errs(t, channel, standIn));
  void t.test(`${channel.name}: it survives hostile peers, follows nobody, and reaches nothing that is denied`, (t) =>
    survives(t, channel, standIn),
  );
}

type JsonSchema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly [key: string]: unknown;
};

function settingsHold(t: Test, channel: AnyChannel): void {
  const schema = z.toJSONSchema(channel.settings, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const options = schema.anyOf ?? [schema];
  for (const one of options) {
    t.equal(one.additionalProperties, false, 'strict');
    for (const [name, field] of Object.entries(one.properties ?? {})) {
      t.ok(field.description !== undefined || field['const'] !== undefined, `${name} is described`);
    }
    walk(one, channel.name);
  }
  function walk(one: JsonSchema, path: string): void {
    if (one.type === 'string') {
      const isBounded = ['maxLength', 'pattern', 'enum', 'const', 'format'].some((key) => key in one);
      t.ok(isBounded || isAddress(path), `${path} is bounded`);
    }
    if (one.type === 'number' || one.type === 'integer')
      t.ok('maximum' in one && 'minimum' in one, `${path} is bounded`);
    if (one.type === 'array') t.ok('maxItems' in one, `${path} is bounded`);
    for (const [name, field] of Object.entries(one.properties ?? {})) walk(field, `${path}.${name}`);
    if (one.items !== undefined) walk(one.items, `${path}[]`);
    for (const each of one.anyOf ?? []) walk(each, path);
  }
  for (const secret of channel.secrets) {
    const [list = '', inner] = secret.split('[].');
    t.ok(
      options.some(({ properties = {} }) => {
        const field = properties[list];
        return inner === undefined ? field !== undefined : field?.items?.properties?.[inner] !== undefined;
      }),
      `${secret} is a field`,
    );
  }
}

/** Unions, such as of an address that may be left out, lose their bounds as JSON schema only when nothing else is known of them. */
function isAddress(path: string): boolean {
  return path.endsWith('.url');
}

async function sends(t: Test, channel: AnyChannel, standIn: StandIn): Promise<void> {
  const running = await startStandIn(t, standIn);
  const settings = standIn.settings(running.baseUrl);
  const trial = {
    settings,
    target: standIn.target,
    baseUrl: running.baseUrl,
    messengerBotToken,
    browsers: standIn.browsers?.(running.baseUrl),
  };
  const messages = [
    ...messageKinds.map((kind) => sampleMessage({ kind, id: `n-${kind}-1` })),
    resolvedMessage(),
    sampleMessage({
      locale: 'ru',
      title: 'Магазин недоступен',
      summary: 'Ни один из трёх пробников не получил ответа.',
    }),
    sampleMessage({ facts: [], sections: [], links: [], subjects: [], subjectCount: 0, summary: '' }),
    ...hostileTexts.flatMap((text) => [
      hostileMessage(text),
      hostileMessage(text, { kind: 'resolved', state: 'recovered' }),
    ]),
    ...['a', 'я', '漢', '🔥', '👩‍👩‍👧‍👦', '<', '&', '*', '\\', '"'].map((character) => longMessage(character)),
  ];
  for (const message of messages) {
    const before = running.problems.length;
    const result = await tryChannel(channel, { ...trial, message });
    const said = running.problems.slice(before);
    t.same(said, [], `${message.kind} "${message.title.slice(0, 20)}"`);
    t.ok(result.ok, result.ok ? 'is taken' : `${result.error.code}: ${result.error.message}`);
    t.ok(running.seen.length > 0 || result.mails.length > 0, 'something was sent');
    t.same(recordsSent(channel, running.seen), [], 'and nothing of it is a record of the engine');
    hidesSecrets(t, channel, settings, result);
    const read = channel.settings.parse(settings);
    t.same(
      channel.render(message, read, standIn.target),
      channel.render(message, read, standIn.target),
      'render is pure',
    );
    if (said.length > 0) break;
  }
}

/** Bodies in JSON, with names of the service where it is another than a webhook of the customer's own. */
function recordsSent(channel: AnyChannel, seen: RunningStandIn['seen']): readonly string[] {
  return seen.flatMap(({ json }) => engineRecordsIn(json, { hasOthersNames: channel.name !== 'webhook' }));
}

async function errs(t: Test, channel: AnyChannel, standIn: StandIn): Promise<void> {
  const running = await startStandIn(t, standIn);
  const settings = standIn.settings(running.baseUrl);
  const trial = {
    settings,
    target: standIn.target,
    baseUrl: running.baseUrl,
    messengerBotToken,
    browsers: standIn.browsers?.(running.baseUrl),
  };
  for (const trouble of Object.keys(standIn.troubles) as Trouble[]) {
    running.meet(trouble);
    const result = await tryChannel(channel, trial);
    t.notOk(result.ok, trouble);
    if (result.ok) continue;
    t.equal(result.error.code, trouble, `${trouble}: ${result.error.message}`);
    t.ok(faults[trouble].includes(result.error.fault), `${trouble} is of the ${result.error.fault}`);
    if (trouble === 'rate_limited' && standIn.saysHowLong === true) {
      const ms = result.error.retryAfterMs ?? 0;
      t.ok(ms > 5_000 && ms <= 8_000, `asked to wait ${ms} ms`);
    }
    t.match(result.error.message, /^.{10,600}\.$/s, 'a sentence');
    hidesSecrets(t, channel, settings, result);
  }
  running.meet(undefined);
  t.ok((await tryChannel(channel, trial)).ok, 'and then it is taken again');
  t.same(running.problems, []);
}

async function survives(t: Test, channel: AnyChannel, standIn: StandIn): Promise<void> {
  const running = await startStandIn(t, standIn);
  const first = await tryChannel(channel, {
    settings: standIn.settings(running.baseUrl),
    target: standIn.target,
    baseUrl: running.baseUrl,
    messengerBotToken,
    browsers: standIn.browsers?.(running.baseUrl),
  });
  // Mails go out by the mail server of the installation.
  if (first.mails.length > 0) return;
  const at = (baseUrl: string, more: object = {}) =>
    tryChannel(channel, {
      settings: standIn.settings(baseUrl),
      target: standIn.target,
      baseUrl,
      messengerBotToken,
      browsers: standIn.browsers?.(baseUrl),
      timeoutMs: 400,
      ...more,
    });
  const meet = async (what: HostilePeer) => {
    const peer = await openHostile(what);
    const { result, late } = await lateness(400, () => at(`http://127.0.0.1:${peer.port}`));
    await peer.stop();
    t.notOk(result.ok, what);
    if (result.ok) return;
    t.ok(deliveryErrorCodes.includes(result.error.code), result.error.code);
    t.not(result.error.code, 'internal', `${what}: ${result.error.message}`);
    t.equal(result.error.fault, 'passing', what);
    t.ok(late < 4_600, `${what} ended ${Math.round(late)} ms late`);
  };
  await Promise.all(hostilePeerNames.map(meet));

  let followed = 0;
  const redirecting = createServer((request, response) => {
    if (request.url === '/elsewhere') followed += 1;
    request.resume();
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.1', resolve));
  t.teardown(() => redirecting.close());
  const address = redirecting.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  t.match(await at(`http://127.0.0.1:${port}`, { timeoutMs: 5_000 }), { ok: false, error: { code: 'redirected' } });
  t.equal(followed, 0);

  if (channel.baseUrl !== undefined) return;
  const before = running.seen.length;
  const denied = await tryChannel(channel, {
    settings: standIn.settings(running.baseUrl),
    target: standIn.target,
    browsers: standIn.browsers?.(running.baseUrl),
    allowsLoopback: false,
  });
  t.match(denied, { ok: false, error: { code: 'address_denied' } });
  t.equal(running.seen.length, before, 'nothing arrived');
}

/** Neither the trace nor the error holds a credential, as it is or as it travels. */
function hidesSecrets(
  t: Test,
  channel: AnyChannel,
  settings: Readonly<Record<string, unknown>>,
  result: TrialResult,
): void {
  const told = JSON.stringify([result.steps, result.ok ? '' : result.error.message]);
  for (const secret of [...secretValues(channel, settings), messengerBotToken]) {
    // Of an address the host is no secret.
    const url = /^https?:/.test(secret) ? URL.parse(secret) : null;
    const word = url === null ? secret : `${url.pathname}${url.search}`;
    if (word.length < 4) continue;
    if (told.includes(word) || told.includes(encodeURIComponent(word)))
      t.fail(`a credential of ${channel.name} is told`);
  }
}
