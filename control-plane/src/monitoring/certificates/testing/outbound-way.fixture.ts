/**
 * How the control plane looks at certificate chains, for the test that judges the address policy from outside: reads questions as lines of
 * JSON from the standard input and prints the code of each outcome.
 */
import { createInterface } from 'node:readline';
import { createCentralLook } from '../gateway.ts';
import { noReach } from '../../assignments/index.ts';
import type { ChainTarget } from '../gateway.ts';

const look = createCentralLook({
  allowedPrivateTargets: [],
  deniedListeners: () => [],
  now: Date.now,
  version: '0',
});

for await (const line of createInterface({ input: process.stdin })) {
  const sent = await look({ ...(JSON.parse(line) as ChainTarget), reach: noReach });
  process.stdout.write(`${sent === undefined ? 'busy' : 'code' in sent ? sent.code : 'ok'}\n`);
}
