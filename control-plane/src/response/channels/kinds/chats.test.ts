import t from 'tap';
import type { IncomingResponse } from '../channel.ts';
import { answered as sent } from '../testing/answered.ts';
import { hostileMessage, hostileTexts, longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { chat, meaningOf as meaningOfChat } from './chat.ts';
import { googleChat, meaningOf as meaningOfGoogle } from './google-chat.ts';
import { messenger } from './messenger.ts';
import { mattermost, meaningOf as meaningOfMattermost } from './mattermost.ts';
import { rocketchat, meaningOf as meaningOfRocketChat } from './rocketchat.ts';
import { teamChat } from './team-chat.ts';
import { meaningOf as meaningOfTeams, teams } from './teams.ts';

const longest = ['a', 'я', '商', '𝕊', '*', '<', '"'].map((character) => longMessage(character));
const hostile = hostileTexts.map((text) => hostileMessage(text));

function answered(status: number, json: unknown): IncomingResponse {
  return { status, headers: {}, json, text: JSON.stringify(json) };
}

function destinations(url: string) {
  return { destinations: [{ key: 'alerts', name: 'Alerts', url }] };
}

type Embed = {
  readonly title: string;
  readonly description: string;
  readonly color: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
};

void t.test('Slack and Telegram: a list that is too long is cut, not left out', async (t) => {
  const lines = Array.from({ length: 200 }, (_, index) => `Monitor number ${index} is down`);
  const message = sampleMessage({ sections: [{ heading: 'What is affected', lines }] });
  const slack = teamChat.settings.parse(destinations('https://hooks.slack.com/services/T0/B0/x'));
  for (const content of [teamChat.render(message, slack, 'alerts'), messenger.render(message, {}, '42')]) {
    t.match(JSON.stringify(content), /What is affected.*Monitor number 0 is down/);
    t.notMatch(JSON.stringify(content), 'Monitor number 199');
  }
});

void t.test('Slack: what it says of a webhook that is gone, by its word and whatever the status', async (t) => {
  for (const [status, text] of [
    [400, 'no_active_hooks'],
    [403, 'no_active_hooks'],
    [404, 'no_service'],
    [410, 'channel_is_archived'],
  ] as const) {
    const settings = (baseUrl: string) => destinations(`${baseUrl}/services/T0/B0/slack-secret`);
    const result = await sent(t, teamChat, { settings, target: 'alerts', answer: { status, text } });
    t.match(result, { ok: false, error: { code: 'unknown_target', fault: 'target' } }, `${status} ${text}`);
  }
});

void t.test('Discord: whatever version an address names, its API is that which waits in seconds', async (t) => {
  const token = 't'.repeat(60);
  for (const version of ['', '/v6', '/v10']) {
    const settings = () => destinations(`https://discord.com/api${version}/webhooks/123456/${token}?thread_id=987654`);
    const answer = { status: 429, json: { retry_after: 6.457, global: false } };
    const result = await sent(t, chat, { settings, target: 'alerts', answer });
    t.match(result, { ok: false, error: { code: 'rate_limited', retryAfterMs: 6_457 } });
    t.equal(result.seen[0]?.path, `/api/v10/webhooks/123456/${token}`);
    t.equal(result.seen[0]?.query.get('thread_id'), '987654');
  }
});

void t.test('Discord: an embed within its limits, which pings nobody', async (t) => {
  const settings = chat.settings.parse(destinations(`https://discord.com/api/webhooks/123456/${'t'.repeat(60)}`));
  for (const message of [...longest, ...hostile, sampleMessage()]) {
    const content = chat.render(message, settings, 'alerts') as { embeds: [Embed]; allowed_mentions: unknown };
    const [{ title, description, fields }] = content.embeds;
    t.same(content.allowed_mentions, { parse: [] });
    t.ok(title.length <= 256 && description.length <= 4096 && fields.length <= 25);
    t.ok(fields.every(({ name, value }) => name.length <= 256 && value.length <= 1024 && name !== '' && value !== ''));
    const together = [title, description, ...fields.flatMap(({ name, value }) => [name, value])];
    t.ok(together.join('').length <= 6000);
  }
  const [problem] = (chat.render(sampleMessage(), settings, 'alerts') as { embeds: [Embed] }).embeds;
  const [over] = (chat.render(resolvedMessage(), settings, 'alerts') as { embeds: [Embed] }).embeds;
  t.not(problem.color, over.color);
  for (const url of [
    'https://evil.example/api/webhooks/123456/x',
    'http://discord.com/api/webhooks/123456/tttttttttttttttttttttttt',
    'https://discord.com/login',
  ])
    t.notOk(chat.settings.safeParse(destinations(url)).success, url);
  t.match(meaningOfChat(answered(404, { code: 10_015 })), { fault: 'target' });
  t.match(meaningOfChat(answered(400, { code: 220_004 })), { fault: 'target' });
  t.match(meaningOfChat(answered(429, { retry_after: 0.5 })), { fault: 'passing', retryAfterMs: 500 });
  t.equal(meaningOfChat(answered(400, { code: 50_035 })), undefined);
});

void t.test('Teams: a card below 28 KB in which no text is markup', async (t) => {
  const settings = teams.settings.parse(
    destinations('https://prod-1.westeurope.logic.azure.com/workflows/x?sig=secret'),
  );
  for (const message of [...longest, ...hostile]) {
    const json = JSON.stringify(teams.render(message, settings, 'alerts'));
    t.ok(Buffer.byteLength(JSON.stringify(json)) <= 28 * 1024, 'also where it stands as a text in another JSON');
    t.notMatch(json, /"type":"(TextBlock|FactSet)"/);
  }
  t.match(meaningOfTeams(answered(404, { error: { code: 'WorkflowNotFound' } })), { fault: 'target' });
  t.equal(meaningOfTeams(answered(500, {})), undefined);
});

void t.test('Mattermost: an attachment that mentions nobody', async (t) => {
  const settings = mattermost.settings.parse(destinations('https://chat.example.com/hooks/abc'));
  for (const message of longest) t.ok(JSON.stringify(mattermost.render(message, settings, 'alerts')).length <= 7900);
  for (const message of hostile)
    t.notMatch(JSON.stringify(mattermost.render(message, settings, 'alerts')), /@(all|channel|here|everyone)\b/);
  t.match(meaningOfMattermost(answered(400, { id: 'web.incoming_webhook.invalid.app_error' })), { fault: 'target' });
  t.match(meaningOfMattermost(answered(400, { id: 'web.incoming_webhook.text.app_error' })), { fault: 'message' });
  t.equal(meaningOfMattermost(answered(404, '404 page not found')), undefined);
});

void t.test('Rocket.Chat: marks mean nothing, and a success that is none is none', async (t) => {
  const settings = rocketchat.settings.parse(destinations('https://chat.example.com/hooks/a/b'));
  type Content = { readonly text: string; readonly attachments: readonly [{ readonly text: string }] };
  for (const message of [...longest, ...hostile]) {
    const { text, attachments } = rocketchat.render(message, settings, 'alerts') as Content;
    t.ok(text.length <= 5000 && attachments[0].text.length <= 5000);
    t.notMatch(text + attachments[0].text, /@(all|here|channel)\b|\]\(https:\/\/evil|<https/);
  }
  const meaning = (answer: IncomingResponse) => meaningOfRocketChat(answer, 1_700_000_000_000);
  t.match(meaning(answered(400, { success: false, error: 'Invalid integration id or token provided.' })), {
    fault: 'target',
  });
  t.match(meaning(answered(200, { success: false, error: 'x' })), { fault: 'message' });
  t.match(
    meaning(answered(503, { success: false, error: 'Service Unavailable' })),
    { fault: 'target' },
    'switched off',
  );
  t.equal(meaning(answered(503, 'Service Unavailable')), undefined, 'a proxy before a server that restarts');
  const limited = { ...answered(429, { success: false }), headers: { 'x-ratelimit-reset': '1700000030500' } };
  t.match(meaning(limited), { fault: 'passing', retryAfterMs: 30_500 });
  t.match(meaning(answered(429, {})), { fault: 'passing', retryAfterMs: undefined });
});

void t.test('Google Chat: a card below 32,000 bytes in the thread of its subject', async (t) => {
  const settings = googleChat.settings.parse(
    destinations('https://chat.googleapis.com/v1/spaces/AAA/messages?key=k&token=t'),
  );
  for (const message of [...longest, ...hostile])
    t.ok(Buffer.byteLength(JSON.stringify(googleChat.render(message, settings, 'alerts'))) <= 32_000);
  t.match(googleChat.render(sampleMessage(), settings, 'alerts'), { thread: { threadKey: 'incident:17' } });
  t.match(meaningOfGoogle(answered(400, { error: { details: [{ reason: 'API_KEY_INVALID' }] } })), { fault: 'target' });
  t.match(meaningOfGoogle(answered(400, {})), { fault: 'message' });
});
