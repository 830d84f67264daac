import { readPdf, squeeze } from '../../../control-plane/src/platform/pdf/testing/read-pdf.ts';
import { sectionOf } from '../../../control-plane/src/reporting/sla/export/test-csv.ts';
import type { TestAnswer } from '../../../control-plane/src/identity/testing.ts';
import { hours, id, page, pageSize } from './bounds.ts';
import { reportedIn, windowTrials } from './of-windows.ts';
import { hourMs, many } from './things.ts';
import type { Stretch } from './things.ts';
import { fullPages, isPage, usualSizes } from './trial.ts';
import type { Asked, EndpointTrials, Trial } from './trial.ts';

/** Milliseconds of being down inside of a window. */
function downIn(ranges: readonly Stretch[], fromMs: number, toMs: number): number {
  return ranges
    .filter(({ status }) => status === 'DOWN')
    .map((range) => Math.max(0, Math.min(range.toMs ?? toMs, toMs) - Math.max(range.fromMs, fromMs)))
    .reduce((sum, ms) => sum + ms, 0);
}

/** Figures of a report, as text. */
type Figures = {
  readonly from: string;
  readonly to: string;
  readonly down?: string;
  readonly target?: string | undefined;
};

const isWindow = ({ t, things, value }: Asked, { from, to, down }: Figures): void => {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  t.equal(toMs - fromMs, Number(value) * hourMs, `${value} hours`);
  if (down !== undefined)
    t.equal(
      Math.round(Number(down) * 1_000),
      downIn(things.old.ranges, fromMs, toMs),
      `what was down in ${value} hours`,
    );
};

const targets = { kind: 'number', least: 90, most: 100 } as const;

const ofOld =
  (rest: string, query = ''): EndpointTrials['of'] =>
  (_world, { old }) => ({
    path: `/api/v1/monitors/${old.id}/${rest}`,
    query,
  });

function text(body: Record<string, unknown>, name: string): string {
  return String(body[name]);
}

const report: EndpointTrials = {
  of: ofOld('sla'),
  parameters: {
    ...windowTrials((query) => ofOld('sla', query), reportedIn),
    hours: {
      bounds: hours(2_160, 24),
      effect: (asked) => {
        const { body } = asked.answer;
        asked.t.equal(body['hours'], Number(asked.value));
        isWindow(asked, { from: text(body, 'from'), to: text(body, 'to'), down: text(body, 'downtime_seconds') });
      },
    },
    slo_target: {
      bounds: targets,
      more: () => ['99.95', '99'],
      effect: ({ t, value, answer }) => {
        const target = Number(value);
        t.match(answer.body, { error_budget: { slo_target: target, is_met: false } });
        const { budget_seconds: budget } = answer.body['error_budget'] as Record<string, number>;
        const wanted = ((100 - target) / 100) * Number(answer.body['measured_seconds']);
        t.ok(Math.abs((budget ?? Number.NaN) - wanted) < 0.001, `a budget of ${budget} s by ${value} per cent`);
      },
    },
  },
};

function csvFigures({ text: file }: TestAnswer): Figures {
  const figures = new Map(sectionOf(file, 'summary').map((record) => [record['name'], record['value'] ?? '']));
  const of = (name: string): string => figures.get(name) ?? '';
  const down = String(Number(of('down_seconds')) + Number(of('timeout_seconds')));
  return { from: of('from'), to: of('to'), down, target: figures.get('slo_target_percent') };
}

const csv: EndpointTrials = {
  of: ofOld('sla/export/csv'),
  parameters: {
    ...windowTrials(
      (query) => ofOld('sla/export/csv', query),
      ({ answer }) => csvFigures(answer),
    ),
    hours: { bounds: hours(2_160, 24), effect: (asked) => isWindow(asked, csvFigures(asked.answer)) },
    slo_target: {
      bounds: targets,
      more: () => ['99.95', '99'],
      effect: ({ t, value, answer }) => t.equal(Number(csvFigures(answer).target), Number(value)),
    },
  },
};

/** The file as bytes, which an answer as text is not. */
async function pdfOf({ world, prepared, value }: Asked, name: string): Promise<Buffer> {
  const { path, query = '' } = prepared;
  const answer = await fetch(`${world.url}${path}?${query}&${name}=${encodeURIComponent(value)}`, {
    headers: { authorization: `Bearer ${world.token}` },
  });
  return Buffer.from(await answer.arrayBuffer());
}

/** The period that a file's seal names. */
async function pdfPeriod(asked: Asked, name: string): Promise<Figures> {
  const { world } = asked;
  const file = await pdfOf(asked, name);
  const verdict = await fetch(`${world.url}/api/v1/sla/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.token}`, 'content-type': 'application/pdf' },
    body: new Uint8Array(file),
  });
  const { period } = (await verdict.json()) as { period: Figures };
  return period;
}

const pdfHours: Trial['effect'] = async (asked) => isWindow(asked, await pdfPeriod(asked, 'hours'));

const pdf: EndpointTrials = {
  of: ofOld('sla/export/pdf'),
  parameters: {
    ...windowTrials((query) => ofOld('sla/export/pdf', query), pdfPeriod),
    hours: { bounds: hours(2_160, 24), effect: pdfHours },
    slo_target: {
      bounds: targets,
      more: () => ['99.95'],
      effect: async (asked) => {
        const { pages } = await readPdf(await pdfOf(asked, 'slo_target'));
        const said = pages.map(({ squeezed }) => squeezed).join('');
        asked.t.ok(said.includes(squeeze(`Target of ${asked.value}% missed`)), `a target of ${asked.value}`);
      },
    },
  },
};

const ofCorrected =
  (rest: string): EndpointTrials['of'] =>
  (_world, { corrected }) => ({
    path: `/api/v1/monitors/${corrected}/sla/${rest}`,
  });
const latestFirst = Array.from({ length: many }, (_, index) => many - index);
const reasons = latestFirst.map((number) => `correction ${number - 1}`);

const corrections: EndpointTrials = {
  of: ofCorrected('corrections'),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      effect: (asked) => isPage(asked, 'corrections', 'reason', { all: reasons, kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      effect: (asked) => isPage(asked, 'corrections', 'reason', { all: reasons, kind: 'page_size' }),
    },
  },
};

const ledger: EndpointTrials = {
  of: ofCorrected('ledger'),
  parameters: {
    page: {
      bounds: page,
      more: fullPages,
      effect: (asked) => isPage(asked, 'entries', 'seq', { all: latestFirst, kind: 'page' }),
    },
    page_size: {
      bounds: pageSize,
      more: usualSizes,
      effect: (asked) => isPage(asked, 'entries', 'seq', { all: latestFirst, kind: 'page_size' }),
    },
    chain: {
      bounds: id,
      effect: ({ t, value, answer }) =>
        t.match(answer.body, {
          chain: Number(value),
          is_current: value === '1',
          total: value === '1' ? many : 0,
        }),
    },
  },
};

/** Reports of service levels, and what they rest on. */
export const ofServiceLevels: Readonly<Record<string, EndpointTrials>> = {
  'GET /api/v1/monitors/{monitor_id}/sla': report,
  'GET /api/v1/monitors/{monitor_id}/sla/export/csv': csv,
  'GET /api/v1/monitors/{monitor_id}/sla/export/pdf': pdf,
  'GET /api/v1/monitors/{monitor_id}/sla/corrections': corrections,
  'GET /api/v1/monitors/{monitor_id}/sla/ledger': ledger,
};
