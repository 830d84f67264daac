import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { heartbeatsApi } from '../testing.ts';

const run = promisify(execFile);

void t.test('the commands that Healthchecks documents for shells work with another host', async (t) => {
  if (!needs(t, 'curl')) return;
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ require_secret: false });
  const url = `${api.url}/ping/${String(made['uuid'])}`;
  const bySlug = `${api.url}/ping/${api.pingKey}/${String(made['slug'])}`;
  const script = `
      set -e
      RID=3c1169a0-7b50-11ee-873c-8fb77f0ce5d1
      curl -fsS -m 10 --retry 5 ${url}
      curl -fsS -m 10 --retry 5 "${url}/start?rid=$RID"
      m=$(echo "some output" 2>&1)
      curl -fsS -m 10 --retry 5 --data-raw "$m" "${url}/0?rid=$RID"
      curl -fsS -m 10 --retry 5 --data-binary @- ${url}/log < /etc/hostname
      curl -fsS -m 10 --retry 5 -X POST --data-raw "" ${bySlug}/fail
      curl -fsS -m 10 --head ${url} > /dev/null
      head -c 200000 /dev/zero | tr '\\0' x | curl -fsS -m 10 -T - -X POST ${bySlug}/7
    `;
  const { stdout } = await run('sh', ['-c', script], { timeout: 60_000 });
  t.match(stdout, /^(OK){6}$/);
  t.match(await api.pings(made['id']), [
    { kind: 'fail', exit_code: 7, body_truncated: true },
    { kind: 'ping', method: 'HEAD' },
    { kind: 'fail', exit_code: null },
    { kind: 'log' },
    { kind: 'success', exit_code: 0, body: 'some output', duration_ms: Number },
    { kind: 'start', rid: '3c1169a0-7b50-11ee-873c-8fb77f0ce5d1' },
    { kind: 'ping', method: 'GET' },
  ]);
  const refused = await run('curl', ['-fsS', `${api.url}/ping/${api.pingKey}/nothing`]).catch(
    (error: unknown) => error as { code: number },
  );
  t.match(refused, { code: 22 }, 'what is unknown is an error to curl');
});

void t.test('a signal that cannot be committed in time is answered with 503, and others go on', async (t) => {
  const api = await heartbeatsApi(t);
  const held = await api.heartbeat();
  const other = await api.heartbeat();
  const client = await api.database.raw.connect();
  try {
    await client.query('begin');
    await client.query('select from heartbeats where id = $1 for update', [held['id']]);
    const waiting = api.ping(`/ping/${String(held['uuid'])}`);
    const isBlocked = async (): Promise<boolean> =>
      (
        await api.database.raw.query(
          'select from pg_stat_activity where pid = any(select pid from pg_locks where not granted)',
        )
      ).rows.length > 0;
    while (!(await isBlocked())) await new Promise(setImmediate);
    t.equal((await api.ping(`/ping/${String(other['uuid'])}`)).status, 200, 'the next batch has a lane of its own');
    const refused = await waiting;
    t.equal(refused.status, 503);
    t.equal(refused.headers.get('retry-after'), '5');
  } finally {
    await client.query('rollback');
    client.release();
  }
  t.equal((await api.ping(`/ping/${String(held['uuid'])}`)).status, 200);
});
