import { parseArgs } from 'node:util';
import { agentBench } from './agent.ts';
import { alertsBench } from './alerts.ts';
import { analyticsBench } from './analytics.ts';
import { apiBench } from './api.ts';
import { checksBench } from './checks.ts';
import { consensusBench } from './consensus.ts';
import { dashboardBench } from './dashboard.ts';
import { ingestBench } from './ingest.ts';
import { pagesBench } from './pages.ts';
import { pingsBench } from './pings.ts';
import { queryBench } from './query.ts';
import { formatTable } from './report.ts';
import type { Bench } from './report.ts';
import { webhooksBench } from './webhooks.ts';

/** Every bench: the only list. */
const benches: readonly Bench[] = [
  agentBench,
  alertsBench,
  analyticsBench,
  apiBench,
  checksBench,
  consensusBench,
  dashboardBench,
  ingestBench,
  pagesBench,
  pingsBench,
  queryBench,
  webhooksBench,
];
const usage = 'usage: npm run bench -- NAME [--json] [--brief] [--profile DIR (checks, pages, webhooks)]';

const given = readArguments();
const chosen = benches.filter((bench) => given?.names.includes(bench.name));
const isKnown = given?.names.every((name) => benches.some((bench) => bench.name === name)) === true;

if (given === undefined || chosen.length === 0 || !isKnown) {
  const list = formatTable(benches.map((bench) => [bench.name, bench.summary] as const));
  process.stderr.write(`${usage}\n\n${list}\n`);
  process.exitCode = 2;
} else {
  for (const bench of chosen) {
    const say = (line: string): void => {
      if (!given.json) process.stderr.write(`${line}\n`);
    };
    const { figures, table } = await bench.run(say, { brief: given.brief, profiles: given.profile });
    process.stdout.write(given.json ? `${JSON.stringify(figures)}\n` : `${formatTable(table)}\n`);
  }
}

/** Undefined when there is an option that no bench has. */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { json: { type: 'boolean' }, brief: { type: 'boolean' }, profile: { type: 'string' } },
      allowPositionals: true,
    });
    return { names: positionals, json: values.json === true, brief: values.brief === true, profile: values.profile };
  } catch {
    return undefined;
  }
}
