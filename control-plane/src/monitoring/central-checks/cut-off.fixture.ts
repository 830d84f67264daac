import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { createCentralCheck } from './gateway.ts';

// Runs in a network of its own: checks a target for each line that it is given, and says what it found in one.
const check = createCentralCheck({
  database: { raw: { query: async () => ({ rows: [] }) } as never },
  now: () => Date.now(),
  allowedPrivateTargets: [],
  deniedListeners: () => [],
  canaries: [],
  version: 'test',
  replica: 'here',
  log: pino({ level: 'silent' }),
});

for await (const url of createInterface({ input: process.stdin })) {
  const { outcome } = await check(
    { protocol: 'http', url, settings: {}, timeoutS: 2, degradedThresholdMs: undefined },
    { signal: new AbortController().signal },
  );
  process.stdout.write(`${outcome.outcome} ${outcome.code ?? ''}\n`);
}
