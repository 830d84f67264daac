import { createHmac } from 'node:crypto';
import t from 'tap';
import type { IncomingResponse } from '../channel.ts';
import { answered } from '../testing/answered.ts';
import { hostileMessage, longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { dingtalk, signedAddress } from './dingtalk.ts';
import { feishu, signature } from './feishu.ts';
import { wecom } from './wecom.ts';

// Robots of groups: what they refuse, they refuse with status 200 and a number.

const at = { key: 'ops', name: 'Operations' };
const target = 'ops';
const saying = (json: IncomingResponse['json']) => ({ status: 200, json });

void t.test('DingTalk signs time and secret under the secret, in the address', (t) => {
  const url = new URL(signedAddress('https://oapi.dingtalk.com/robot/send?access_token=t', 'SECx', 1_772_330_400_000));
  const expected = createHmac('sha256', 'SECx').update('1772330400000\nSECx').digest('base64');
  t.same(Object.fromEntries(url.searchParams), { access_token: 't', timestamp: '1772330400000', sign: expected });
  t.notMatch(url.search, /sign=[^&]*[+/]/, 'nothing of Base64 that an address reads otherwise');
  t.end();
});

void t.test('DingTalk: numbers of errors', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({
      destinations: [{ ...at, url: `${baseUrl}/robot/send?access_token=dt0123456789`, secret: 'SEC-dt-secret' }],
    }),
    target,
  };
  const sent = await answered(t, dingtalk, { ...trial, answer: saying({ errcode: 0, errmsg: 'ok' }) });
  t.ok(sent.ok);
  t.match(sent.seen, [{ path: '/robot/send', json: { msgtype: 'text', at: { isAtAll: false } } }]);
  for (const [errcode, error] of [
    [310_000, { code: 'refused_credentials', fault: 'target' }],
    [300_001, { code: 'unknown_target', fault: 'target' }],
    [400_013, { code: 'unknown_target', fault: 'target' }],
    [400_106, { code: 'unknown_target', fault: 'target' }],
    [130_101, { code: 'rate_limited', fault: 'passing', retryAfterMs: 60_000 }],
    [-1, { code: 'service_unavailable', fault: 'passing' }],
    [400_105, { code: 'refused_message', fault: 'message' }],
  ] as const) {
    const answer = saying({ errcode, errmsg: 'about dt0123456789 and SEC-dt-secret' });
    const result = await answered(t, dingtalk, { ...trial, answer });
    t.match(result, { ok: false, error }, `${errcode}`);
    t.notMatch(result.ok ? '' : result.error.message, /dt0123456789|SEC-dt-secret/);
  }
  t.match(await answered(t, dingtalk, { ...trial, answer: { status: 200, text: '<html>' } }), {
    ok: false,
    error: { code: 'unexpected_answer', fault: 'passing' },
  });
  const settings = dingtalk.settings.parse(trial.settings('https://oapi.dingtalk.com'));
  for (const character of ['"', 'ж', '👩‍👩‍👧‍👦']) {
    t.ok(Buffer.byteLength(JSON.stringify(dingtalk.render(longMessage(character), settings, target))) <= 20_000);
  }
});

void t.test('Feishu signs nothing under time and secret, in the body', async (t) => {
  const { timestamp, sign } = signature('fs-secret', 1_772_330_400_999);
  t.equal(timestamp, '1772330400');
  t.equal(sign, createHmac('sha256', '1772330400\nfs-secret').update('').digest('base64'));
  const trial = {
    settings: (baseUrl: string) => ({
      destinations: [{ ...at, url: `${baseUrl}/open-apis/bot/v2/hook/fs0123456789`, secret: 'fs-secret' }],
    }),
    target,
  };
  const sent = await answered(t, feishu, {
    ...trial,
    now: () => 1_772_330_400_999,
    answer: saying({ code: 0, msg: 'success', data: {} }),
  });
  t.ok(sent.ok);
  t.match(sent.seen, [{ json: { timestamp, sign, msg_type: 'interactive', card: { header: { template: 'red' } } } }]);
  t.ok((await answered(t, feishu, { ...trial, answer: saying({ StatusCode: 0, StatusMessage: 'success' }) })).ok);
  for (const [code, error] of [
    [19_021, { code: 'refused_credentials', fault: 'target' }],
    [19_001, { code: 'unknown_target', fault: 'target' }],
    [11_232, { code: 'rate_limited', fault: 'passing' }],
    [9499, { code: 'refused_message', fault: 'message' }],
  ] as const) {
    t.match(
      await answered(t, feishu, { ...trial, answer: saying({ code, msg: 'no' }) }),
      { ok: false, error },
      `${code}`,
    );
  }
  const settings = feishu.settings.parse(trial.settings('https://open.larksuite.com'));
  t.match(feishu.render(resolvedMessage(), settings, target), { card: { header: { template: 'green' } } });
  for (const character of ['"', 'ж', '👩‍👩‍👧‍👦']) {
    t.ok(Buffer.byteLength(JSON.stringify(feishu.render(longMessage(character), settings, target))) <= 20_000);
  }
});

void t.test('WeCom: at most 2,048 bytes of text, and numbers of errors', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({
      destinations: [{ ...at, url: `${baseUrl}/cgi-bin/webhook/send?key=wc0123456789` }],
    }),
    target,
  };
  const settings = wecom.settings.parse(trial.settings('https://qyapi.weixin.qq.com'));
  for (const character of ['x', '商', '👩‍👩‍👧‍👦']) {
    const { text } = wecom.render(longMessage(character), settings, target) as { text: { content: string } };
    t.ok(Buffer.byteLength(text.content) <= 2048);
    t.match(text.content, 'https://monitor.example.com/incidents/17', 'the link stays');
  }
  t.match(wecom.render(sampleMessage(), settings, target), { msgtype: 'text' });
  const url = 'https://monitor.example.com/?<@all>';
  const calling = hostileMessage('<@all> <@zhang> 1 < 2 @all', { links: [{ purpose: 'open', label: '<@all>', url }] });
  const { text } = wecom.render(calling, settings, target) as { text: { content: string } };
  t.notMatch(text.content, '<@', 'whoever names a monitor calls nobody');
  t.match(text.content, '1 < 2 @all', 'what means nothing stays');
  t.ok((await answered(t, wecom, { ...trial, answer: saying({ errcode: 0, errmsg: 'ok' }) })).ok);
  for (const [errcode, error] of [
    [93_000, { code: 'unknown_target', fault: 'target' }],
    [45_009, { code: 'rate_limited', fault: 'passing' }],
    [-1, { code: 'service_unavailable', fault: 'passing' }],
    [40_058, { code: 'refused_message', fault: 'message' }],
  ] as const) {
    t.match(
      await answered(t, wecom, { ...trial, answer: saying({ errcode, errmsg: 'no' }) }),
      { ok: false, error },
      `${errcode}`,
    );
  }
});
