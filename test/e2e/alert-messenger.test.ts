import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import { testBotApi } from '../../control-plane/src/response/messenger/testing/bot-api.ts';
import type { SentMessage } from '../../control-plane/src/response/messenger/testing/bot-api.ts';
import { historyOf, mailsTo, mailThat, newAlert, newPerson, openIncident, watch } from '../harness/alerted.ts';
import { pidOf, signalChild, untilRestarted } from '../harness/children.ts';
import { eventually } from '../harness/processes.ts';
import { startProduct } from '../harness/product.ts';
import { startReplica } from '../harness/replicas.ts';
import { startTarget } from '../harness/target.ts';

const groupId = -1_001_234_567;
const person = { id: 4_711, is_bot: false, first_name: 'Ada' };
const stranger = { id: 666, is_bot: false, first_name: 'Eve' };
const silenceMs = 3_000;
const waitSeconds = 7;

type Keyboard = { readonly inline_keyboard: readonly (readonly { text: string; callback_data: string }[])[] };

t.test('alerts in the messenger, and what people do about them there', { timeout: 400_000 }, async (t) => {
  const messenger = await testBotApi(t);
  const mails = await mailServer(t);
  const target = await startTarget();
  // What is down for the second time within minutes flaps, and is not told of each time.
  const blog = await startTarget();
  t.teardown(() => Promise.all([target.close(), blog.close()]));
  const product = await startProduct({
    PARALLAX_LOCAL_PROBES: '1',
    PARALLAX_MESSENGER_BOT_TOKEN: messenger.token,
    PARALLAX_CHANNEL_BASE_URLS: `messenger=${messenger.baseUrl}`,
    ...mailsTo(mails),
  });
  t.teardown(() => product.stop());
  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  await watch(ada, 'Shop', target.url);

  const sentTo = (chatId: number) => messenger.sent.filter((message) => message.chatId === chatId);
  const message = (chatId: number, pattern: RegExp, after = 0): Promise<SentMessage> =>
    eventually(
      `a message in ${chatId} with ${pattern}`,
      async () =>
        sentTo(chatId)
          .slice(after)
          .find(({ text }) => pattern.test(text)),
      { timeoutMs: 90_000 },
    );
  const answerTo = (query: string): Promise<string> =>
    eventually('an answer to who pressed', async () => messenger.answered.get(query), { timeoutMs: 60_000 });
  const buttonsUnder = ({ keyboard }: SentMessage) =>
    ((keyboard as Keyboard | undefined)?.inline_keyboard ?? []).flat().map(({ callback_data: data }) => data);
  const press = (under: SentMessage, from: object, kind: string): string => {
    const data = buttonsUnder(under).find((each) => each.startsWith(kind));
    if (data === undefined) throw new Error(`there is no button ${kind}: ${JSON.stringify(under.keyboard)}`);
    return messenger.press(under, { ...from }, data);
  };
  const linkOf = async (path: string, parameter: string, body?: object): Promise<string> => {
    const { url } = await ada.api.call<{ url: string }>('POST', path, 200, body);
    return new URL(url).searchParams.get(parameter) ?? 'no token';
  };

  await t.test('a person and a group are linked by deep links', async () => {
    messenger.chats.set(person.id, { type: 'private' });
    messenger.chats.set(groupId, { type: 'supergroup' });
    messenger.write(person.id, person, `/start ${await linkOf('/api/v1/messenger-bot/link', 'start')}`);
    await message(person.id, /./);
    const token = await linkOf('/api/v1/messenger-groups/link', 'startgroup', { workspace_id: ada.workspaceId });
    messenger.write(groupId, person, `/start@${messenger.username} ${token}`);
    await message(groupId, /./);
    await eventually('the group is listed', async () => {
      const { messenger_groups: groups } = await ada.api.call<{ messenger_groups: { chat_id: unknown }[] }>(
        'GET',
        '/api/v1/messenger-groups',
        200,
      );
      return groups.some(({ chat_id: id }) => String(id) === String(groupId));
    });
  });

  const { id: configId } = await ada.api.call<{ id: number }>('POST', '/api/v1/alert-channel-configs', 201, {
    channel: 'telegram',
    settings: {},
  });
  const chat = (id: number, more: object = {}) => ({
    channel: 'messenger',
    config_id: configId,
    target: String(id),
    ...more,
  });
  await newAlert(ada, { name: 'Group', steps: [{ targets: [chat(groupId)] }] });
  const russian = chat(person.id, { locale: 'ru', timezone: 'Europe/Moscow' });
  await newAlert(ada, { name: 'Лично', steps: [{ targets: [russian] }] });

  await t.test('an outage arrives with buttons, and one of them acknowledges', async (t) => {
    await target.shut();
    const down = await message(groupId, /Shop is down/);
    const { id } = await openIncident(ada);
    t.same(buttonsUnder(down), [`ack:${id}`, `mute:${ada.workspaceId}:60`]);
    t.match(down.text, /refused/);
    const own = await message(person.id, /Shop не работает/);
    t.match(own.text, /МСК|GMT\+3|MSK|UTC\+3/);
    t.match(own.keyboard, { inline_keyboard: [[{ text: /Взять в работу/ }, {}]] });

    t.match(await answerTo(press(down, stranger, 'ack')), /\/start/, 'who is nobody here is told so');
    t.equal((await openIncident(ada)).status, 'open');
    t.not(await answerTo(press(down, person, 'ack')), '');
    t.match(await openIncident(ada), { id, status: 'acknowledged' });
    await eventually('the button to be gone', async () => !buttonsUnder(down).some((data) => data.startsWith('ack')));

    // The service asks to wait: it is waited, and told once.
    const known = messenger.chats.get(groupId);
    if (known === undefined) throw new Error('the group is gone');
    known.trouble = { retryAfterSeconds: waitSeconds };
    const before = messenger.calls.length;
    await target.reopen();
    await eventually(
      'the end to be refused once',
      async () =>
        messenger.calls
          .slice(before)
          .some(({ method, params }) => method === 'sendMessage' && params['chat_id'] === groupId),
      { timeoutMs: 60_000, everyMs: 20 },
    );
    const refusedMs = Date.now();
    delete known.trouble;
    const up = await message(groupId, /Shop is up again/);
    t.ok(Date.now() - refusedMs > (waitSeconds - 1) * 1_000, 'it waited as it was asked');
    t.same(buttonsUnder(up), [], 'nothing is left to be done');
    await message(person.id, /Shop снова работает/);
    await eventually('the history to know of both attempts', async () =>
      (await historyOf(ada)).some(
        ({ channel, kind, status, attempts }) =>
          channel === 'messenger' && kind === 'resolved' && status === 'sent' && attempts === 2,
      ),
    );
    t.equal(sentTo(groupId).filter(({ text }) => text.includes('up again')).length, 1);
  });

  await t.test('a muted chat is told nothing, and what still lasts when it is not muted any more', async (t) => {
    await watch(ada, 'Blog', blog.url);
    const before = sentTo(groupId).length;
    messenger.write(groupId, stranger, '/mute 1h');
    await message(groupId, /link/i, before);
    messenger.write(groupId, person, '/mute 1h');
    const muted = await message(groupId, /Muted until/, before);
    t.match(muted.text, /1 alert/);
    await blog.shut();
    await mailThat(mails, ada.email, /Blog is down/, 3);
    await message(person.id, /Blog не работает/, 3);
    await delay(silenceMs);
    t.equal(sentTo(groupId).length, before + 2, 'only the answers to the commands');
    messenger.write(groupId, person, '/unmute');
    await message(groupId, /Blog is down/, before + 2);
    await blog.reopen();
    await message(groupId, /Blog is up again/, before + 2);
  });

  await t.test('of two workers one asks the messenger, and the other follows when it dies', async (t) => {
    const beginnings = () => messenger.calls.filter(({ method }) => method === 'deleteWebhook').length;
    t.equal(beginnings(), 1);
    const replica = await startReplica(product, { roles: 'worker' });
    t.teardown(() => replica.process.stop());
    await delay(silenceMs);
    t.equal(beginnings(), 1, 'the second leaves it to the first');
    const former = pidOf(product, 'control-plane');
    const before = sentTo(groupId).length;
    t.ok(signalChild(product, 'control-plane', 'SIGKILL'));
    messenger.write(groupId, person, '/status');
    await message(groupId, /Shop|up/i, before);
    await untilRestarted(product, 'control-plane', former);
    await delay(silenceMs);
    t.equal(sentTo(groupId).length, before + 1, 'answered once');
    t.equal(beginnings(), 2);
  });
});
