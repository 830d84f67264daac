import { mostIncidentTemplates } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { incidentsApi } from '../testing.ts';

const path = '/api/v1/incident-templates';

void t.test('a template is made, listed, changed and deleted, and incidents are made from it', async (t) => {
  const api = await incidentsApi(t);
  const { token, workspaceId } = api;
  const call = (method: string, at = '', body?: unknown, headers: Record<string, string> = {}) =>
    api.call(method, `${path}${at}`, { token, headers, ...(body === undefined ? {} : { body }) });
  const given = {
    workspace_id: workspaceId,
    name: 'Payments',
    title: 'Payments fail',
    severity: 'critical',
    public_title: 'Trouble with payments',
    update: { kind: 'investigating', body: 'We look into it.' },
  };
  const made = await call('POST', '', given);
  t.equal(made.status, 201, made.text);
  t.match(made.body, { ...given, version: 1 });
  const id = Number(made.body['id']);
  t.equal(made.headers.get('location'), `${path}/${id}`);
  t.equal(made.headers.get('etag'), '"1"');
  t.same((await call('GET', `/${id}`)).body, made.body);
  t.equal((await call('PUT', `/${id}`, made.body)).body['version'], 1, 'an answer that is sent back changes nothing');
  const bare = await call('POST', '', { workspace_id: workspaceId, name: 'another', title: 'Something fails' });
  t.match(bare.body, { severity: 'major', public_title: null, update: null });
  t.match((await call('GET', '?search=PAYM')).body, { incident_templates: [{ id }], total: 1 });
  t.match((await call('GET', `?workspace_id=${workspaceId}`)).body, {
    incident_templates: [{ name: 'another' }, { name: 'Payments' }],
    total: 2,
  });

  const incident = (body: object) =>
    api.call('POST', '/api/v1/incidents', { token, body: { workspace_id: workspaceId, ...body } });
  const filled = await incident({ template_id: id });
  t.equal(filled.status, 201, filled.text);
  t.match(filled.body, {
    title: 'Payments fail',
    severity: 'critical',
    public_title: 'Trouble with payments',
    is_manual: true,
    updates: [{ kind: 'investigating', body: 'We look into it.', is_public: false }],
  });
  t.match((await incident({ template_id: id, title: 'Mine', severity: 'minor', update: null })).body, {
    title: 'Mine',
    severity: 'minor',
    public_title: 'Trouble with payments',
    updates: [],
  });
  t.match((await incident({ title: 'Plain' })).body, { title: 'Plain', severity: 'major', updates: [] });
  t.match((await incident({})).body, { code: 'invalid_input', errors: [{ path: '/title' }] });
  t.match((await incident({ template_id: 2_000_000_000 })).body, {
    code: 'not_found',
    errors: [{ path: '/template_id', code: 'not_found' }],
  });

  const changed = await call('PUT', `/${id}`, { severity: null, public_title: null, update: null, name: 'Money' });
  t.match(changed.body, { name: 'Money', severity: 'major', public_title: null, update: null, version: 2 });
  t.equal((await call('PUT', `/${id}`, { title: 'x' }, { 'if-match': '"1"' })).status, 412);
  for (const body of [
    { update: { kind: 'resolved', body: 'x' } },
    { title: '' },
    { severity: 'huge' },
    { update: {} },
    { other: 1 },
  ]) {
    t.equal((await call('PUT', `/${id}`, body)).status, 422, JSON.stringify(body));
  }
  t.equal((await call('DELETE', `/${id}`, undefined, { 'if-match': '"1"' })).status, 412);
  t.equal((await call('DELETE', `/${id}`)).status, 204);
  t.equal((await call('GET', `/${id}`)).status, 404);
  t.equal((await incident({ template_id: id })).status, 404);
  t.same(
    await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
      select action from audit_log where subject_type = 'incident_template' and subject_id = ${id} order by id`),
    ['incident_template.created', 'incident_template.updated', 'incident_template.deleted'],
  );
});

void t.test(
  'viewers read templates, editors write them, others see nothing; a workspace has so many and no more',
  async (t) => {
    const api = await incidentsApi(t);
    const body = { workspace_id: api.workspaceId, name: 'x', title: 'x' };
    const made = await api.call('POST', path, { token: api.token, body });
    const at = `${path}/${String(made.body['id'])}`;
    const member = await api.account('viewer@example.com');
    await addMember(api.database, api.workspaceId, member.id, 'viewer');
    const viewer = member.accessToken;
    t.equal((await api.call('GET', at, { token: viewer })).status, 200);
    t.equal((await api.call('POST', path, { token: viewer, body })).status, 403);
    t.equal((await api.call('PUT', at, { token: viewer, body: { name: 'y' } })).status, 403);
    t.equal((await api.call('DELETE', at, { token: viewer })).status, 403);
    const eve = (await api.account('eve@example.com')).accessToken;
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await api.call(method, at, { token: eve, ...(method === 'PUT' ? { body: { name: 'y' } } : {}) });
      t.equal(answer.status, 404, method);
    }
    t.match((await api.call('GET', path, { token: eve })).body, { total: 0 });
    await api.database.worker.query(sql.unsafe`
    insert into incident_templates (workspace_id, name, title, severity)
    select ${api.workspaceId}, 'n ' || n, 'x', 'minor' from generate_series(3, ${mostIncidentTemplates}) as n`);
    const last = await Promise.all([1, 2, 3].map(() => api.call('POST', path, { token: api.token, body })));
    t.same(
      last.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409],
      'also at once',
    );
    t.match(last.find(({ status }) => status === 409)?.body, { code: 'too_many_incident_templates' });
  },
);
