import { agentBench } from './agent.ts';
import { ingestBench } from './ingest.ts';
import { formatTable } from './report.ts';
import type { Bench } from './report.ts';

/** Every bench: the only list. */
const benches: readonly Bench[] = [agentBench, ingestBench];

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isJson = process.argv.includes('--json');
const chosen = benches.filter((bench) => names.includes(bench.name));
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));

if (chosen.length === 0 || unknown.length > 0) {
  const list = formatTable(benches.map((bench) => [bench.name, bench.summary] as const));
  process.stderr.write(`usage: npm run bench -- NAME [--json] [--brief]\n\n${list}\n`);
  process.exitCode = 2;
} else {
  for (const bench of chosen) {
    const say = (line: string): void => {
      if (!isJson) process.stderr.write(`${line}\n`);
    };
    const { figures, table } = await bench.run(say, { brief: process.argv.includes('--brief') });
    process.stdout.write(isJson ? `${JSON.stringify(figures)}\n` : `${formatTable(table)}\n`);
  }
}
