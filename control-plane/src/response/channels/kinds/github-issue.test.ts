import t from 'tap';
import { answered } from '../testing/answered.ts';
import { hostileMessage, longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import type { SeenRequest, StandInAnswer } from '../testing/stand-in.ts';
import { githubIssue } from './github-issue.ts';

const token = 'github_pat_0123456789';
const trial = { settings: () => ({ token, labels: ['ops'] }), target: 'acme/operations' };
const settings = githubIssue.settings.parse(trial.settings());
const marker = '<!-- parallax:incident:17 -->';

/** A repository with these open issues, newest first. */
function repository(issues: readonly { readonly number: number; readonly body: string | null }[]) {
  return (request: SeenRequest): StandInAnswer => {
    if (request.method === 'GET') {
      const [size, page] = [Number(request.query.get('per_page')), Number(request.query.get('page'))];
      return { status: 200, json: issues.slice((page - 1) * size, page * size) };
    }
    if (request.method === 'POST' && request.path.endsWith('/issues')) return { status: 201, json: { number: 41 } };
    return { status: request.method === 'POST' ? 201 : 200, json: { id: 1 } };
  };
}

const others = Array.from({ length: 13 }, (_each, at) => ({
  number: 100 - at,
  body: at === 3 ? null : 'about something else',
}));
const writes = (seen: readonly SeenRequest[]) =>
  seen.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

void t.test('an issue is opened once, with a marker and our label', async (t) => {
  const opened = await answered(t, githubIssue, { ...trial, answer: repository(others) });
  t.match(opened, { ok: true, delivered: { reference: '41' } });
  t.same(writes(opened.seen), ['POST /repos/acme/operations/issues']);
  t.match(opened.seen.at(-1), {
    headers: { authorization: `Bearer ${token}` },
    json: { title: 'Shop is down', labels: ['parallax', 'ops'] },
  });
  const { body = '' } = (opened.seen.at(-1)?.json ?? {}) as { readonly body?: string };
  t.match(body, marker);
  const again = await answered(t, githubIssue, { ...trial, answer: repository([...others, { number: 7, body }]) });
  t.match(again, { ok: true, delivered: { reference: '7' } });
  t.same(writes(again.seen), [], 'the same message again finds its own issue');
});

void t.test('what follows is a comment, and the end closes', async (t) => {
  const answer = repository([...others, { number: 7, body: `text ${marker}` }]);
  const updated = await answered(t, githubIssue, {
    ...trial,
    answer,
    message: sampleMessage({ id: 'n-2', kind: 'updated' }),
  });
  t.same(writes(updated.seen), ['POST /repos/acme/operations/issues/7/comments']);
  const over = await answered(t, githubIssue, { ...trial, answer, message: resolvedMessage() });
  t.same(writes(over.seen), ['POST /repos/acme/operations/issues/7/comments', 'PATCH /repos/acme/operations/issues/7']);
  t.match(over.seen.at(-1)?.json, { state: 'closed', state_reason: 'completed' });
  const unknown = await answered(t, githubIssue, { ...trial, answer: repository([]), message: resolvedMessage() });
  t.same(writes(unknown.seen), [], 'what was never opened is not closed');
  t.ok(unknown.ok);
});

void t.test('texts mention nobody and nothing, keep to the lengths, and hold no link that acts', (t) => {
  const { issue, comment } = githubIssue.render(
    hostileMessage('@acme/all fixes #12 GH-7 <!-- parallax:x --> [a](https://e.example)'),
    settings,
    '',
  );
  for (const text of [issue.body.replace(/<!--[^<]*-->/g, ''), comment]) {
    t.notMatch(text, /@\w|#\d|GH-\d|\]\(https:\/\/e\.|<!--/);
  }
  t.equal(issue.body.split('<!--').length - 1, 2, 'only our own markers');
  t.notMatch(issue.body + comment, 'snooze');
  for (const character of ['x', '*', '👩‍👩‍👧‍👦']) {
    const long = githubIssue.render(longMessage(character), settings, '');
    t.ok(long.issue.body.length <= 3200 && long.comment.length <= 3000 && long.issue.title.length <= 200);
  }
  t.end();
});

void t.test('too many requests are told from a token without rights', async (t) => {
  const now = () => 1_772_330_400_000;
  const refuse = (headers: Record<string, string>, message: string) => ({ status: 403, headers, json: { message } });
  for (const [answer, error] of [
    [
      refuse({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1772330430' }, 'API rate limit exceeded'),
      { code: 'rate_limited', retryAfterMs: 30_000 },
    ],
    [
      refuse({ 'retry-after': '9' }, 'You have exceeded a secondary rate limit'),
      { code: 'rate_limited', retryAfterMs: 9000 },
    ],
    [
      refuse({ 'x-ratelimit-remaining': '55' }, 'Resource not accessible by personal access token'),
      { code: 'refused_credentials' },
    ],
    [
      { status: 401, json: { message: 'Bad credentials' } },
      { code: 'refused_credentials', fault: 'configuration' },
    ],
    [
      { status: 404, json: { message: 'Not Found' } },
      { code: 'unknown_target', fault: 'target' },
    ],
    [
      { status: 410, json: { message: 'Issues are disabled for this repo' } },
      { code: 'unknown_target', fault: 'target' },
    ],
    [
      { status: 404, text: '<html>not found</html>' },
      { code: 'unexpected_status', fault: 'passing' },
    ],
    [
      { status: 422, json: { message: 'Validation Failed' } },
      { code: 'refused_message', fault: 'message' },
    ],
    [
      { status: 200, json: {} },
      { code: 'unexpected_answer', fault: 'passing' },
    ],
  ] as const) {
    t.match(await answered(t, githubIssue, { ...trial, now, answer }), { ok: false, error }, JSON.stringify(answer));
  }
});

void t.test('a target is owner and repository', (t) => {
  const read = (text: string) => githubIssue.target.parse(text, settings);
  t.same(read('https://github.com/Acme/Operations.git'), { ok: true, target: 'acme/operations' });
  for (const text of ['acme', 'acme/', 'acme/..', 'acme/a/b', '../x', 'acme/a?b', '-a/b']) t.notOk(read(text).ok, text);
  t.end();
});
