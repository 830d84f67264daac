/**
 * How checks leave the control plane, for the test that judges the address policy from outside: reads questions as lines of JSON from the
 * standard input and prints the code of each outcome.
 */
import { createInterface } from 'node:readline';
import type { CheckedMonitor } from '../queries.ts';
import { createCentralCheck } from '../gateway.ts';

type Context = Parameters<typeof createCentralCheck>[0];

const context = {
  allowedPrivateTargets: [],
  deniedListeners: () => [],
  canaries: [],
  now: Date.now,
  version: '0',
  replica: 'one',
  log: { warn: () => undefined, info: () => undefined },
  database: { raw: { query: () => Promise.reject(new Error('There is no database here.')) } },
} as unknown as Context;
const check = createCentralCheck(context);

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as Pick<CheckedMonitor, 'protocol' | 'url' | 'settings'>;
  const monitor = { ...question, timeoutS: 1, degradedThresholdMs: undefined };
  const { outcome } = await check(monitor, { signal: new AbortController().signal, isTraced: true });
  process.stdout.write(`${outcome.code ?? outcome.outcome}\n`);
}
