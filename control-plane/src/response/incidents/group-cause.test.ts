import t from 'tap';
import { eventually } from '../../monitoring/check-results/ingest/testing/world.ts';
import { groupBody, groupStage } from '../../monitoring/groups/check/testing.ts';
import { incidentsCapability } from './index.ts';

void t.test(
  'an incident of a group monitor names those of its members as its cause, whichever came first',
  async (t) => {
    const s = await groupStage(t, { more: [incidentsCapability] });
    const [one, two] = [await s.monitor('one'), await s.monitor('two')];
    const both = await s.monitor('both', groupBody({ monitor_ids: [two, one], minimum_up: 2 }));
    const above = await s.monitor('above', groupBody({ monitor_ids: [both] }));
    s.start();
    await s.send(one, 'ok');
    await s.send(two, 'ok');
    await s.statusIs(above, 'UP');
    await s.send(one, 'fail');
    await s.statusIs(above, 'DOWN');
    // Its incident is opened after that of the group monitor.
    await s.send(two, 'fail');
    await eventually(async () => {
      const { body } = await s.call('GET', `/incidents?monitor_id=${both}`);
      const [incident] = body['incidents'] as { cause: { incidents?: unknown[] } }[];
      return incident?.cause.incidents?.length === 2;
    }, 'the incident names those of its members');
    const { body: told } = await s.call('GET', `/incidents?monitor_id=${above}`);
    t.match(told, { total: 1, incidents: [{ cause: { incidents: [{ monitor_id: both, name: 'both' }] } }] });

    const { body: members } = await s.call('GET', `/incidents?monitor_id=${one}`);
    t.notMatch((members['incidents'] as { cause: object }[])[0]?.cause, { incidents: [] }, 'a member has none');
    await s.send(two, 'ok');
    await s.send(one, 'ok');
    await s.statusIs(both, 'UP');
    // A recovery is told when two results say so: the next one comes within a second.
    t.equal((await s.call('PATCH', `/monitors/${both}`, { interval_seconds: 1 })).status, 200);
    await eventually(async () => {
      const { body } = await s.call('GET', `/incidents?monitor_id=${both}&status=resolved`);
      return body['total'] === 1;
    }, 'its incident ends');
  },
);
