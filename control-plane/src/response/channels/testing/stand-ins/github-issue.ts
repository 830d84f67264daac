// Written from memory, checked on 2026-11-23 against https://docs.github.com/en/rest/issues/issues ("Create an issue": title, body, labels, which need
// the right to push; 201, 410 where issues are off) and https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api (403 and 429,
// retry-after, x-ratelimit-remaining and -reset, a minute where neither is). Lengths and the words of errors are from memory.
import type { SeenRequest, StandIn, StandInAnswer } from '../stand-in.ts';
import { isOneOf, isText, jsonBody, objectOf } from './parts.ts';

const token = 'github_pat_issueCredential11AAAA';
const repository = '/repos/acme/operations';

type Issue = {
  readonly number: number;
  readonly title: unknown;
  readonly body: unknown;
  readonly state: string;
  readonly html_url: string;
};

/** GitHub's issues: what was opened is found again by listing or searching, commented on, and closed. */
export const githubIssue: StandIn = {
  channel: 'github-issue',
  documents: ['https://docs.github.com/en/rest/issues/issues'],
  settings: () => ({ token }),
  target: 'acme/operations',
  handle: (request, must, seen) => {
    must(/^(Bearer|token) /.test(request.headers['authorization'] ?? ''), 'Authorization: Bearer and the token');
    must((request.headers['authorization'] ?? '').endsWith(` ${token}`), 'the token');
    must((request.headers['user-agent'] ?? '') !== '', 'a user agent, without which GitHub refuses');
    const issues = openedIn(seen);
    if (request.method === 'GET') return found(request, issues, must);
    const body = jsonBody(request, must);
    if (request.method === 'POST' && request.path === `${repository}/issues`) {
      must(isText(body['title'], 256), 'title of at most 256 characters');
      must(
        body['body'] === undefined || (typeof body['body'] === 'string' && body['body'].length <= 65_536),
        'body of at most 65,536',
      );
      must(body['labels'] === undefined || Array.isArray(body['labels']), 'labels is a list');
      return { status: 201, json: issueOf(issues.length + 1, body, 'open') };
    }
    const [, number = '', part] = /^\/repos\/acme\/operations\/issues\/(\d+)(\/comments)?$/.exec(request.path) ?? [];
    must(number !== '', 'a path of issues of the repository');
    const issue = issues.find((each) => each.number === Number(number));
    if (issue === undefined) return notFound;
    if (part !== undefined) {
      must(request.method === 'POST', 'POST for a comment');
      must(isText(body['body'], 65_536), 'body of a comment');
      return { status: 201, json: { id: 1, html_url: `${issue.html_url}#issuecomment-1` } };
    }
    must(request.method === 'PATCH', 'PATCH for a change');
    must(
      body['state'] === undefined || body['state'] === 'open' || body['state'] === 'closed',
      'state: open or closed',
    );
    const reasons = ['completed', 'not_planned', 'reopened', 'duplicate'];
    must(body['state_reason'] === undefined || isOneOf(body['state_reason'], reasons), 'state_reason');
    return { status: 200, json: { ...issue, state: body['state'] ?? issue.state } };
  },
  troubles: {
    refused_credentials: {
      status: 401,
      json: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' },
    },
    unknown_target: { status: 404, json: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' } },
    rate_limited: {
      status: 403,
      headers: { 'retry-after': '7' },
      json: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' },
    },
    refused_message: {
      status: 422,
      json: { message: 'Validation Failed', errors: [{ resource: 'Issue', field: 'title', code: 'missing_field' }] },
    },
    service_unavailable: { status: 503, json: { message: 'Service unavailable' } },
  },
  saysHowLong: true,
};

const notFound: StandInAnswer = { status: 404, json: { message: 'Not Found' } };

/** What stands after all that came: opened in order, closed by the last change. */
function openedIn(seen: readonly SeenRequest[]): readonly Issue[] {
  const opened = seen.filter(({ method, path }) => method === 'POST' && path === `${repository}/issues`);
  return opened.map(({ json }, at) => {
    const changes = seen.filter(({ method, path }) => method === 'PATCH' && path === `${repository}/issues/${at + 1}`);
    const state = changes.map((change) => objectOf(change.json)['state']).findLast((each) => typeof each === 'string');
    return issueOf(at + 1, objectOf(json), typeof state === 'string' ? state : 'open');
  });
}

function issueOf(number: number, { title, body }: Readonly<Record<string, unknown>>, state: string): Issue {
  return { number, title, body: body ?? null, state, html_url: `https://github.com/acme/operations/issues/${number}` };
}

function found(
  request: SeenRequest,
  issues: readonly Issue[],
  must: (holds: boolean, what: string) => void,
): StandInAnswer {
  if (request.path === '/search/issues') {
    const query = request.query.get('q') ?? '';
    must(query !== '' && query.length <= 1000, 'q');
    const words = [...query.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word);
    const items = issues.filter(({ state, title, body }) => {
      const isWanted = !query.includes('state:open') && !query.includes('is:open') ? true : state === 'open';
      return isWanted && words.every((word) => `${String(title)}\n${String(body)}`.includes(word));
    });
    return { status: 200, json: { total_count: items.length, incomplete_results: false, items } };
  }
  must(request.path === `${repository}/issues`, 'the issues of the repository');
  const wanted = request.query.get('state') ?? 'open';
  must(['open', 'closed', 'all'].includes(wanted), 'state: open, closed or all');
  const size = Number(request.query.get('per_page') ?? 30);
  must(Number.isInteger(size) && size >= 1 && size <= 100, 'per_page of 1 to 100');
  const start = (Number(request.query.get('page') ?? 1) - 1) * size;
  const listed = issues.filter(({ state }) => wanted === 'all' || state === wanted).toReversed();
  return { status: 200, json: listed.slice(start, start + size) };
}
