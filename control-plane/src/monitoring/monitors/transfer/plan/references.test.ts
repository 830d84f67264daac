import t from 'tap';
import { resolveReferences } from './references.ts';

const probe = (id: number, name: string, region: string) => ({
  id,
  name,
  region,
  capabilities: [],
  isLost: false,
  isPaused: false,
  hasConnected: true,
  load: 0,
});

void t.test('probes and regions are found by name; what is not here is left out and said', async (t) => {
  const usable = [probe(1, 'a', 'eu'), probe(2, 'b', 'us')];
  const warnings: string[] = [];
  t.same(resolveReferences(['b', 'x', 'b'], ['us', 'ap'], usable, warnings), {
    probeIds: [2],
    probeNames: ['b'],
    regions: ['us'],
  });
  t.match(warnings, [/: x$/, /: ap$/]);
});

void t.test('where there is no probe at all, regions stay', async (t) => {
  const warnings: string[] = [];
  t.same(resolveReferences([], ['eu'], [], warnings).regions, ['eu']);
  t.same(warnings, []);
});
