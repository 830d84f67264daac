// Written from memory, checked on 2026-11-23 against copies of https://developer.work.weixin.qq.com/document/path/91770 (群机器人配置说明: address, types,
// 2,048 and 4,096 bytes, `<@userid>` in text and Markdown, 20 messages a minute), as https://cnblogs.com/tiandi/p/17768525.html, and reports of users
// (93000, 45009, 40058). The rest of /document/path/90313 (global error codes) is from memory.
import type { StandIn } from '../stand-in.ts';
import { jsonBody, objectOf } from './parts.ts';

const key = '693axxx6-wecom-credential-05';

/** A group robot of WeCom. Whatever it refuses, it answers 200 and a number. */
export const wecom: StandIn = {
  channel: 'wecom',
  documents: ['https://developer.work.weixin.qq.com/document/path/91770'],
  settings: (baseUrl) => ({
    destinations: [{ key: 'ops', name: 'Operations', url: `${baseUrl}/cgi-bin/webhook/send?key=${key}` }],
  }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/cgi-bin/webhook/send', 'POST /cgi-bin/webhook/send');
    must(request.query.get('key') === key, 'key');
    const body = jsonBody(request, must);
    const type = String(body['msgtype']);
    const most = { text: 2048, markdown: 4096, markdown_v2: 4096 }[type];
    must(most !== undefined, 'msgtype: text, markdown or markdown_v2');
    const { content, mentioned_list } = objectOf(body[type]);
    must(
      typeof content === 'string' && content !== '' && Buffer.byteLength(content) <= (most ?? 0),
      'content within the bytes of its type',
    );
    must(
      mentioned_list === undefined || (Array.isArray(mentioned_list) && mentioned_list.length === 0),
      'nobody is called',
    );
    must(!String(content).includes('<@'), 'nobody is called in the text');
    return { status: 200, json: { errcode: 0, errmsg: 'ok' } };
  },
  troubles: {
    unknown_target: {
      status: 200,
      json: { errcode: 93_000, errmsg: 'invalid webhook url, hint: [1], from ip: 127.0.0.1' },
    },
    rate_limited: { status: 200, json: { errcode: 45_009, errmsg: 'api freq out of limit' } },
    refused_message: {
      status: 200,
      json: { errcode: 40_058, errmsg: 'markdown.content exceed max length 4096. invalid Request Parameter' },
    },
    service_unavailable: { status: 200, json: { errcode: -1, errmsg: 'system busy' } },
  },
};
