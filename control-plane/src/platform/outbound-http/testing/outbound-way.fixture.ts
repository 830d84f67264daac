/**
 * How channels reach the addresses that tenants name, for the test that judges the address policy from outside: reads questions as lines of JSON
 * from the standard input, asks the host of each by HTTP and by HTTPS, and prints the code of the outcome.
 */
import { createInterface } from 'node:readline';
import { createResolver } from '@parallax/checks';
import { createOutboundClients, OutboundError } from '../index.ts';

const { guarded } = createOutboundClients({
  allowedPrivateTargets: [],
  deniedListeners: () => [],
  now: Date.now,
  version: '0',
  // Some questions hold a name, and asking for it would be an attempt of its own.
  resolver: createResolver({ servers: [] }),
});
let asked = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const { url } = JSON.parse(line) as { readonly url: string };
  asked += 1;
  process.stdout.write(`${await codeOf(withScheme(url, asked % 2 === 0 ? 'https' : 'http'))}\n`);
}

/** Targets of check types are written in several forms; what tenants name here are web addresses. */
function withScheme(text: string, scheme: string): string {
  return `${scheme}://${text.replace(/^[a-z0-9+.-]+:\/\//i, '')}`;
}

async function codeOf(url: string): Promise<string> {
  try {
    await guarded({ method: 'POST', url, body: {} }, { timeoutMs: 1_000 });
    return 'ok';
  } catch (error) {
    return error instanceof OutboundError ? error.code : 'defect';
  }
}
