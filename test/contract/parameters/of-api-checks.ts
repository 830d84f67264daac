import { id, page, pageSize, search, yesOrNo } from './bounds.ts';
import { results } from './of-histories.ts';
import type { Things } from './things.ts';
import { many } from './things.ts';
import { fullPages, isPage, rowsOf, usualSizes } from './trial.ts';
import type { Asked, EndpointTrials } from './trial.ts';

const listPath = '/api/v1/api-checks';
const crowd = Array.from({ length: many }, (_, index) => `c${String(index).padStart(3, '0')}`);
const ofChecks =
  (query: string) =>
  (_world: unknown, { checks }: Things) => ({
    path: listPath,
    query: `workspace_id=${checks.workspace}&${query}`,
  });
/** Of the first ten, the last digits of their names in the order of the answer. */
const digitsOf = ({ answer }: Asked): string =>
  rowsOf(answer, 'api_checks')
    .map((row) => String(row['name']).slice(-1))
    .join('');

const listApiChecks: EndpointTrials = {
  of: () => ({ path: listPath }),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      of: ofChecks('sort=name&page_size=20'),
      effect: (asked) => isPage(asked, 'api_checks', 'name', { all: crowd, kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      of: ofChecks('sort=name'),
      effect: (asked) => isPage(asked, 'api_checks', 'name', { all: crowd, kind: 'page_size' }),
    },
    status_filter: {
      bounds: {
        kind: 'words',
        anyCase: true,
        words: ['up', 'down', 'degraded', 'unknown', 'paused', 'partial', 'timeout', 'warning', 'transient', 'skipped'],
      },
      of: ofChecks('sort=name&tag=ten'),
      effect: (asked) => {
        const found: Readonly<Record<string, string>> = {
          up: '0',
          down: '14',
          degraded: '256',
          unknown: '789',
          paused: '3',
          partial: '5',
          timeout: '4',
          warning: '6',
          transient: '7',
          skipped: '8',
        };
        asked.t.equal(digitsOf(asked), found[asked.value], `${asked.value} shows those`);
      },
    },
    is_active: {
      bounds: yesOrNo(),
      of: ofChecks('sort=name&tag=ten'),
      effect: (asked) => asked.t.equal(digitsOf(asked), asked.value === 'true' ? '012456789' : '3'),
    },
    workspace_id: {
      bounds: id,
      more: ({ checks, varied }) => [String(checks.workspace), String(varied)],
      effect: ({ t, things, value, answer, world }) => {
        const counts = new Map([
          [String(things.checks.workspace), many],
          [String(things.varied), 0],
          [String(things.crowded), 0],
        ]);
        const count = counts.get(value);
        if (count === undefined) t.equal(answer.status, value === String(world.workspaceId) ? 200 : 404, value);
        else t.equal(answer.body['total'], count, `${value} shows what belongs to it`);
      },
    },
    group_id: {
      bounds: id,
      more: ({ checks }) => [String(checks.group)],
      of: ofChecks('sort=name'),
      effect: (asked) => {
        const { t, things, value, answer } = asked;
        if (value === String(things.checks.group)) t.equal(digitsOf(asked), '02', 'members of the group');
        else if (answer.status !== 404) t.same(rowsOf(answer, 'api_checks'), [], 'of other groups none is here');
      },
    },
    tag: {
      bounds: { kind: 'several', item: { kind: 'text', most: 50 }, most: 20 },
      more: () => ['y'],
      of: ofChecks('sort=name'),
      effect: (asked) => {
        const found = { x: '0', y: '0' }[asked.value] ?? (asked.value.length === 50 ? '1' : '2');
        asked.t.equal(digitsOf(asked), found, 'who has the tag');
      },
    },
    search: {
      bounds: search,
      more: () => ['C05', 'X'.repeat(200), '%', '_', "'", 'y'.repeat(200)],
      of: ofChecks('sort=name&page_size=1'),
      effect: ({ t, value, answer }) => {
        const found = value === 'x' ? many : value === 'C05' ? 10 : /^x+$/i.test(value) ? 1 : 0;
        t.equal(answer.body['total'], found, `${value.slice(0, 10)} is found so often`);
      },
    },
    sort: {
      bounds: {
        kind: 'words',
        anyCase: true,
        words: ['status', 'name', 'uptime', 'response', 'manual'],
        byDefault: 'status',
      },
      of: ofChecks('tag=ten'),
      effect: (asked) => {
        const found: Readonly<Record<string, string>> = {
          status: '1425678903',
          name: '0123456789',
          uptime: '0213456789',
          response: '2013456789',
          manual: '9314256780',
        };
        asked.t.equal(digitsOf(asked), found[asked.value], `by ${asked.value}`);
      },
    },
    order: {
      bounds: { kind: 'words', anyCase: true, words: ['asc', 'desc'], byDefault: 'asc' },
      of: ofChecks('sort=name&tag=ten'),
      effect: (asked) => asked.t.equal(digitsOf(asked), asked.value === 'asc' ? '0123456789' : '9876543210'),
    },
  },
};

/** The list of API checks, and the results of one of them. */
export const ofApiChecks: Readonly<Record<string, EndpointTrials>> = {
  [`GET ${listPath}`]: listApiChecks,
  [`GET ${listPath}/{id}/results`]: {
    ...results,
    of: (_world, { checks }) => ({ path: `${listPath}/${checks.busy}/results` }),
  },
};
