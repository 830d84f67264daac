import type { NewsFacts } from '../news/news-facts.ts';
import type { Notice } from './notice.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** A notice as the body of a webhook: the facts as they were public, in no language. */
export function noticeBody({ page, news, manageUrl }: Notice, nowMs: number): string {
  return JSON.stringify({
    type: 'status_page.update',
    timestamp: iso(nowMs),
    data: { page: { id: page.id, name: page.name, url: page.url }, updates: news.map(shown), manage_url: manageUrl },
  });
}

function shown(facts: NewsFacts): Readonly<Record<string, unknown>> {
  if (facts.type === 'maintenance') {
    const { starts_ms: startsMs, ends_ms: endsMs, ...rest } = facts;
    return { ...rest, starts_at: iso(startsMs), ends_at: iso(endsMs) };
  }
  const { at_ms: atMs, started_ms: startedMs, resolved_ms: resolvedMs, ...rest } = facts;
  return {
    ...rest,
    at: iso(atMs),
    started_at: iso(startedMs),
    resolved_at: resolvedMs === null ? null : iso(resolvedMs),
  };
}

/** What a webhook is asked to echo, with the secret that signs all that comes: whoever reads it is who is told. */
export function challengeBody(
  facts: { readonly challenge: string; readonly secret: string; readonly manageUrl: string },
  page: Pick<Notice['page'], 'id' | 'name' | 'url'>,
  nowMs: number,
): string {
  return JSON.stringify({
    type: 'status_page.challenge',
    timestamp: iso(nowMs),
    data: {
      page: { id: page.id, name: page.name, url: page.url },
      challenge: facts.challenge,
      secret: facts.secret,
      manage_url: facts.manageUrl,
    },
  });
}
