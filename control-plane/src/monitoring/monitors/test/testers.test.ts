import t from 'tap';
import type { ProbeCandidate } from '../../assignments/index.ts';
import { chooseTesters } from './testers.ts';

const probe = (id: number, more: Partial<ProbeCandidate> = {}): ProbeCandidate => ({
  id,
  region: 'eu',
  capabilities: ['icmp'],
  isLost: false,
  isPaused: false,
  hasConnected: true,
  load: 0,
  ...more,
});
const wants = { probeIds: null, regions: null, requires: [] };

const chosen = (given: Parameters<typeof chooseTesters>[0], probes: readonly ProbeCandidate[]) => {
  const choice = chooseTesters(given, probes);
  return choice.kind === 'testers' ? choice.seats.map(({ probeId }) => probeId) : choice.reason;
};

void t.test('one healthy probe with the least to do tests', async (t) => {
  t.same(chosen(wants, [probe(1, { load: 9 }), probe(2, { load: 3 }), probe(3, { load: 3 })]), [2]);
  t.same(chosen(wants, [probe(1, { isLost: true }), probe(2, { isPaused: true }), probe(3)]), [3]);
  t.same(chosen({ ...wants, requires: ['browser'] }, [probe(1), probe(2, { capabilities: ['browser'] })]), [2]);
  t.same(chosen({ ...wants, regions: ['us'] }, [probe(1), probe(2, { region: 'us' })]), [2]);
});

void t.test('without one the control plane does it', async (t) => {
  t.same(chosen(wants, []), []);
  t.same(chosen({ ...wants, requires: ['browser'] }, []), []);
  t.same(chosen(wants, [probe(1, { isLost: true }), probe(2, { isPaused: true })]), []);
});

void t.test('named probes are all asked, whatever state they are in', async (t) => {
  const probes = [probe(1), probe(2, { isLost: true }), probe(3, { isPaused: true }), probe(4)];
  t.same(chosen({ ...wants, probeIds: [3, 1, 2] }, probes), [1, 2, 3]);
  t.equal(chosen({ ...wants, probeIds: [1, 9] }, probes), 'unknown_probe');
});

void t.test('what a monitor would be refused for is refused', async (t) => {
  t.equal(chosen({ ...wants, requires: ['docker'] }, [probe(1)]), 'no_probe_able');
  t.equal(chosen({ ...wants, probeIds: [1], requires: ['docker'] }, [probe(1)]), 'no_probe_able');
  t.equal(chosen({ ...wants, regions: ['us'] }, [probe(1)]), 'no_probe_able');
});
