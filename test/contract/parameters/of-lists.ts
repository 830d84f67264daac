import { monitorProtocols } from '@parallax/api-contract';
import { parseCsv } from '../../../control-plane/src/reporting/sla/export/test-csv.ts';
import { id, page, pageSize, search, yesOrNo } from './bounds.ts';
import type { Things } from './things.ts';
import { many } from './things.ts';
import { fullPages, isPage, rowsOf, usualSizes } from './trial.ts';
import type { Asked, EndpointTrials, Trial } from './trial.ts';

const namesOf = (list: string, { answer }: Asked): readonly unknown[] => rowsOf(answer, list).map((row) => row['name']);
/** The names of a workspace of which there are `many`. */
const crowd = Array.from({ length: many }, (_, index) => `n${String(index).padStart(3, '0')}`);

/** Only what belongs to a workspace; one that is not there is 404. */
const workspaceOnly = (
  count: (asked: Asked) => unknown,
  all: (things: Things, workspace: number) => unknown,
): Trial => ({
  bounds: id,
  more: ({ crowded, varied }) => [String(crowded), String(varied)],
  effect: (asked) => {
    const { t, things, value, answer, world } = asked;
    const own = [things.crowded, things.varied].find((each) => String(each) === value);
    if (own === undefined) t.equal(answer.status, value === String(world.workspaceId) ? 200 : 404, value);
    else t.same(count(asked), all(things, own), `${value} shows what belongs to it`);
  },
});

const monitorPath = '/api/v1/monitors';
const ofVaried =
  (query: string) =>
  (_world: unknown, { varied }: Things) => ({
    path: monitorPath,
    query: `workspace_id=${varied}&${query}`,
  });
const ofCrowd =
  (query: string) =>
  (_world: unknown, { crowded }: Things) => ({
    path: monitorPath,
    // Without `z busy`, which no page of these is to end with.
    query: `workspace_id=${crowded}&sort=name&is_active=false&${query}`,
  });
const ten = 'abcdefghij';
/** Of a list of the varied workspace those that differ in all that it goes by, without the other three. */
const lettersOf = (asked: Asked): string =>
  namesOf('monitors', asked)
    .filter((name) => isLetter(String(name)))
    .join('');
const isLetter = (name: string): boolean => name.length === 1 && ten.includes(name);

const listMonitors: EndpointTrials = {
  of: () => ({ path: monitorPath }),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      of: ofCrowd('page_size=20'),
      effect: (asked) => isPage(asked, 'monitors', 'name', { all: crowd, kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      of: ofCrowd('order=asc'),
      effect: (asked) => isPage(asked, 'monitors', 'name', { all: crowd, kind: 'page_size' }),
    },
    status_filter: {
      bounds: {
        kind: 'words',
        anyCase: true,
        words: ['up', 'down', 'degraded', 'unknown', 'paused', 'partial', 'timeout', 'warning', 'transient', 'skipped'],
      },
      of: ofVaried('sort=name'),
      effect: (asked) => {
        const found: Readonly<Record<string, string>> = {
          up: 'a',
          down: 'bf',
          degraded: 'cgh',
          unknown: 'dij',
          paused: 'e',
          partial: 'g',
          timeout: 'f',
          warning: 'h',
          transient: 'i',
          skipped: 'j',
        };
        asked.t.equal(lettersOf(asked), found[asked.value], `${asked.value} shows those`);
      },
    },
    is_active: {
      bounds: yesOrNo(),
      of: ofVaried('sort=name'),
      effect: (asked) => {
        asked.t.equal(lettersOf(asked), asked.value === 'true' ? 'abcdfghij' : 'e');
      },
    },
    workspace_id: workspaceOnly(
      ({ answer }) => answer.body['total'],
      ({ crowded }, workspace) => (workspace === crowded ? many + 1 : ten.length + 3),
    ),
    protocol: {
      bounds: { kind: 'words', anyCase: true, words: monitorProtocols },
      of: ofVaried(''),
      effect: ({ t, answer, value }) => {
        const of = rowsOf(answer, 'monitors').map((row) => row['protocol']);
        t.same([...new Set(of)], ['https', 'dnsbl'].includes(value) ? [value] : [], `${value} shows only its own`);
        t.equal(of.length, value === 'https' ? ten.length + 2 : value === 'dnsbl' ? 1 : 0);
      },
    },
    group_id: {
      bounds: id,
      more: ({ group }) => [String(group)],
      of: ofVaried('sort=name'),
      effect: (asked) => {
        const { t, things, value, answer } = asked;
        if (value === String(things.group)) t.same(namesOf('monitors', asked), ['a', 'c'], 'members of the group');
        else if (answer.status !== 404) t.same(rowsOf(answer, 'monitors'), [], 'of other groups none is here');
      },
    },
    tag: {
      bounds: { kind: 'several', item: { kind: 'text', most: 50 }, most: 20 },
      more: () => ['y'],
      of: ofVaried('sort=name'),
      effect: (asked) => {
        const found = { x: 'abc', y: 'a' }[asked.value] ?? (asked.value.length === 50 ? 'b' : 'e');
        asked.t.equal(namesOf('monitors', asked).join(''), found, 'who has the tag');
      },
    },
    search: {
      bounds: search,
      more: () => ['X'.repeat(200), 'EXAMPLE.com/X', '%', '_', "'", 'y'.repeat(200)],
      of: ofVaried('sort=name'),
      effect: (asked) => {
        const isIn = 'https://example.com/'.concat('x'.repeat(300)).includes(asked.value.toLowerCase());
        const names = namesOf('monitors', asked);
        if (asked.value === 'x') asked.t.ok(names.includes('a'), 'in every URL');
        else asked.t.same(names, isIn ? ['c'] : [], `${asked.value.length} characters`);
      },
    },
    sort: {
      bounds: {
        kind: 'words',
        anyCase: true,
        words: ['status', 'name', 'uptime', 'response', 'manual'],
        byDefault: 'status',
      },
      of: ofVaried(''),
      effect: (asked) => {
        const found: Readonly<Record<string, string>> = {
          status: 'bfcghdijae',
          name: 'abcdefghij',
          uptime: 'acbdefghij',
          response: 'cabdefghij',
          manual: 'jdbfcghiae',
        };
        asked.t.equal(lettersOf(asked), found[asked.value], `by ${asked.value}`);
      },
    },
    order: {
      bounds: { kind: 'words', anyCase: true, words: ['asc', 'desc'], byDefault: 'asc' },
      of: ofVaried('sort=name'),
      effect: (asked) => {
        asked.t.equal(lettersOf(asked), asked.value === 'asc' ? ten : ten.split('').toReversed().join(''));
      },
    },
  },
};

/** The names in a file of monitors. */
function namesInFile({ answer }: Asked): readonly string[] {
  const [head = [], ...records] = parseCsv(answer.text);
  return records.map((cells) => cells[head.indexOf('name')] ?? '').toSorted();
}

const exportMonitors: EndpointTrials = {
  of: () => ({ path: '/api/v1/monitors/export/csv' }),
  parameters: {
    workspace_id: workspaceOnly(
      (asked) => namesInFile(asked).length,
      ({ crowded }, workspace) => (workspace === crowded ? many + 1 : ten.length + 3),
    ),
    is_active: {
      bounds: yesOrNo(),
      of: (_world, { varied }) => ({ path: '/api/v1/monitors/export/csv', query: `workspace_id=${varied}` }),
      effect: (asked) => {
        const names = namesInFile(asked).filter(isLetter);
        asked.t.equal(names.join(''), asked.value === 'true' ? 'abcdfghij' : 'e');
      },
    },
  },
};

const groupPath = '/api/v1/monitor-groups';

const listGroups: EndpointTrials = {
  of: () => ({ path: groupPath }),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      of: (_world, { crowded }) => ({ path: groupPath, query: `workspace_id=${crowded}` }),
      effect: (asked) => isPage(asked, 'monitor_groups', 'name', { all: crowd, kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      of: (_world, { crowded }) => ({ path: groupPath, query: `workspace_id=${crowded}` }),
      effect: (asked) => isPage(asked, 'monitor_groups', 'name', { all: crowd, kind: 'page_size' }),
    },
    workspace_id: workspaceOnly(
      ({ answer }) => answer.body['total'],
      ({ crowded }, workspace) => (workspace === crowded ? many : 1),
    ),
    search: {
      bounds: search,
      more: () => ['A AND', 'n05', 'CROWD', '%', '_'],
      effect: (asked) => {
        const { t, value, answer } = asked;
        const found = { 'A AND': 1, n05: 10, CROWD: many }[value] ?? 0;
        t.equal(answer.body['total'], found, `${value.slice(0, 10)} is found so often`);
      },
    },
  },
};

const groupStats: EndpointTrials = {
  of: () => ({ path: `${groupPath}/stats` }),
  parameters: {
    workspace_id: workspaceOnly(
      ({ answer }) => [answer.body['total'], answer.body['monitors']],
      ({ crowded }, workspace) => (workspace === crowded ? [many, 0] : [1, 2]),
    ),
  },
};

/** Lists of monitors and of groups, and what is counted and written of them. */
export const ofLists: Readonly<Record<string, EndpointTrials>> = {
  'GET /api/v1/monitors': listMonitors,
  'GET /api/v1/monitors/export/csv': exportMonitors,
  'GET /api/v1/monitor-groups': listGroups,
  'GET /api/v1/monitor-groups/stats': groupStats,
};
