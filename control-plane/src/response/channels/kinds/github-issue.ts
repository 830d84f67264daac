import { z } from 'zod';
import type { Channel, ChannelIo, IncomingResponse, OutgoingRequest } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { escapeMarkdown, markdownUrl } from '../../messages/index.ts';
import { actionOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import {
  isAccepted,
  notFoundByProxy,
  type Meaning,
  rateLimited,
  refusal,
  secondsToMs,
  unexpectedAnswer,
  unknownTarget,
} from './shared/refusal.ts';

const title = 'GitHub';
const cloud = 'https://api.github.com';
/** Every issue of ours has it, and is found again among those that have it. */
const ownLabel = 'parallax';

const settings = z.strictObject({
  token: secretText(500).describe(
    'Fine-grained personal access token with "Issues: read and write" of the repositories (of an account that may set labels there).',
  ),
  api_url: z
    .string()
    .trim()
    .max(500)
    .refine((text) => /^https?:\/\/[^/?#@]+(\/[\w./-]*)?$/.test(text) && URL.canParse(text), 'an absolute address')
    .describe(
      'Address of the REST API of a GitHub Enterprise Server: https://github.example.com/api/v3; absent: github.com.',
    )
    .optional(),
  labels: z
    .array(z.string().trim().min(1).max(50))
    .max(10)
    .default([])
    .describe(`Labels that issues get beside "${ownLabel}".`),
});
type Settings = z.output<typeof settings>;

type Content = {
  readonly action: 'open' | 'comment' | 'close';
  /** Names what the issue is about. */
  readonly marker: string;
  /** Names the message that opened it. */
  readonly ownMarker: string;
  readonly issue: { readonly title: string; readonly body: string; readonly labels: readonly string[] };
  readonly comment: string;
};

/**
 * Opens an issue, comments on it, closes it. The issue is found by a marker in its body among the open ones with our label: the list is exact at once,
 * while the search of GitHub lags behind. A comment that was written just before the connection broke is written twice.
 */
export const githubIssue: Channel<Settings, Content> = {
  name: 'github-issue',
  title: 'GitHub issue',
  documentation: 'https://docs.github.com/en/rest/issues/issues',
  setup:
    'In GitHub open "Settings", "Developer settings", "Fine-grained tokens" and create one for the repositories with "Issues: read and write". The target is "owner/repository".',
  settings,
  secrets: ['token'],
  target: {
    label: 'owner/repository',
    example: 'acme/operations',
    parse: (text) => {
      const target = text
        .trim()
        .replace(/^https:\/\/github\.com\//i, '')
        .replace(/(?:\.git)?\/?$/, '')
        .toLowerCase();
      const isName = /^[a-z0-9][a-z0-9-]{0,38}\/[a-z0-9._-]{1,100}$/.test(target) && !/\/\.{1,2}$/.test(target);
      return isName ? { ok: true, target } : { ok: false, problem: 'owner and repository, with a slash between them' };
    },
    mask: (target) => target,
    reaches: (target, { api_url: api }) => `${(api ?? cloud).replace(/\/+$/, '')} ${target}`,
  },
  baseUrl: cloud,
  // Up to four requests, one after the other.
  timeoutMs: 30_000,
  closes: true,
  render,
  send: async (content, { settings, target }, io) => {
    const ask = asker(settings, target, io);
    const found = await findIssue(content.marker, ask);
    if (found === undefined) {
      if (content.action === 'close') return {};
      const answer = await ask('POST', '/issues', content.issue);
      return referenceOf(fieldOf(answer, 'number'));
    }
    const { number, body } = found;
    // It was this very message that opened it; only the answer was lost.
    if (body.includes(content.ownMarker)) return referenceOf(number);
    await ask('POST', `/issues/${number}/comments`, { body: content.comment });
    if (content.action === 'close')
      await ask('PATCH', `/issues/${number}`, { state: 'closed', state_reason: 'completed' });
    return referenceOf(number);
  },
};

type Ask = (method: OutgoingRequest['method'], path: string, body?: unknown) => Promise<IncomingResponse>;

/** Asks the repository. @throws DeliveryError for every answer that is no success */
function asker({ token, api_url }: Settings, target: string, io: ChannelIo): Ask {
  const [owner = '', repository = ''] = target.split('/');
  const base = `${(api_url ?? io.baseUrl).replace(/\/+$/, '')}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'x-github-api-version': '2022-11-28',
  };
  return async (method, path, body) => {
    const answer = await io.request({
      method,
      url: base + path,
      headers,
      secrets: [token],
      ...(body === undefined ? {} : { body }),
    });
    if (isAccepted(answer)) return answer;
    const now = io.now();
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer, now),
      detail: fieldOf(answer, 'message'),
      secrets: [token],
      now,
    });
  };
}

// An issue has about 5 kB of its own and up to 3 kB of ours, and answers are read up to 64 KiB.
const pageSize = 6;
const mostPages = 10;

async function findIssue(
  marker: string,
  ask: Ask,
): Promise<{ readonly number: number; readonly body: string } | undefined> {
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await ask(
      'GET',
      `/issues?state=open&labels=${ownLabel}&sort=created&direction=desc&per_page=${pageSize}&page=${page}`,
    );
    if (!Array.isArray(answer.json)) throw unexpectedAnswer(title);
    const issues: readonly unknown[] = answer.json;
    for (const issue of issues) {
      const { number, body } = (issue ?? {}) as { readonly number?: unknown; readonly body?: unknown };
      if (typeof body === 'string' && body.includes(marker) && typeof number === 'number') return { number, body };
    }
    if (issues.length < pageSize) return undefined;
  }
  return undefined;
}

const mostBody = 3000;

const markup: Markup = {
  escape,
  title: (text) => `**${escape(text)}**`,
  heading: (text) => `\n**${escape(text)}**\n`,
  fact: (label, value) => `- **${escape(label)}:** ${escape(value)}`,
  link: ({ label, url }) => `- [${escape(label)}](${markdownUrl(url)})`,
};

/** Markdown of GitHub, in which `#1` and `GH-1` are references as well, and are looked for after escapes. */
function escape(text: string): string {
  return escapeMarkdown(text)
    .replaceAll('#', '#\u200b')
    .replaceAll(/\bGH(?=\\-)/gi, '$&\u200b');
}

function render(message: Message, { labels }: Settings): Content {
  const action = actionOf(message);
  const marker = `<!-- parallax:${message.subjectKey} -->`;
  const ownMarker = `<!-- message:${message.id} -->`;
  // A page that is opened by whoever reads the repository must not act in somebody's name.
  const shown = { ...message, links: message.links.filter(({ purpose }) => purpose === 'open') };
  return {
    action: action === 'close' ? 'close' : message.kind === 'opened' ? 'open' : 'comment',
    marker,
    ownMarker,
    issue: {
      title: cut(message.title, 200),
      body: `${layOut(shown, markup, mostBody, { title: false })}\n\n${marker}${ownMarker}`,
      labels: [ownLabel, ...labels.filter((label) => label !== ownLabel)],
    },
    comment: layOut(shown, markup, mostBody),
  };
}

// 403 and 429 are answered for too many requests too; 410 where issues are switched off.
function meaningOf(answer: IncomingResponse, now: number): Meaning | undefined {
  const { headers, status } = answer;
  const words = fieldOf(answer, 'message');
  // Of a GitHub Enterprise Server that restarts, its proxy says so.
  const byProxy = notFoundByProxy(answer, typeof words === 'string');
  if (byProxy !== undefined) return byProxy;
  if (status === 410) return unknownTarget;
  if (status !== 403 && status !== 429) return undefined;
  if (headers['retry-after'] !== undefined) return rateLimited;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return { ...rateLimited, retryAfterMs: secondsToMs(reset - now / 1000) };
  }
  return typeof words === 'string' && /rate limit/i.test(words) ? { ...rateLimited, retryAfterMs: 60_000 } : undefined;
}
