import { createIncidentSchema } from '@parallax/api-contract';
import t from 'tap';
import { fillIncident } from './fill.ts';

const template = {
  title: 'Payments fail',
  severity: 'critical',
  public_title: 'Trouble with payments',
  update: { kind: 'identified', body: 'We know why.' },
} as const;

const body = (given: object) => createIncidentSchema.parse({ workspace_id: 1, template_id: 7, ...given });

t.test('a template fills what a body leaves out', async (t) => {
  t.match(fillIncident(body({}), template), {
    title: 'Payments fail',
    severity: 'critical',
    public_title: 'Trouble with payments',
    update: { kind: 'identified', body: 'We know why.', is_public: false, notify: true, impacts: [] },
  });
  t.notOk('template_id' in fillIncident(body({}), template));
});

t.test('what a body gives stays, also null', async (t) => {
  const given = { title: 'Other', severity: 'minor', public_title: null, update: null } as const;
  t.match(fillIncident(body(given), template), given);
  t.match(fillIncident(body({ update: { body: 'Own.' } }), template), { update: { kind: 'note', body: 'Own.' } });
});

t.test('without a template there are the defaults, and a title is needed', async (t) => {
  const plain = createIncidentSchema.parse({ workspace_id: 1, title: 'x' });
  t.match(fillIncident(plain, null), { title: 'x', severity: 'major' });
  t.equal(fillIncident(plain, null).update, null);
  for (const given of [{}, { template_id: null }]) {
    const judged = createIncidentSchema.safeParse({ workspace_id: 1, ...given });
    t.match(judged.error?.issues, [{ path: ['title'] }]);
  }
});
