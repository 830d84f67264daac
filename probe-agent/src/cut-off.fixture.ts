import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startAgent } from './agent.ts';
import { register } from './enrolment/register.ts';
import { silentLogger } from './ports.ts';
import { createChecker } from './runner/checker.ts';
import { anAssignment, testControlPlane } from './testing/control-plane.ts';

// Each of the two runs in a network of its own: `beyond` is a control plane, `probe` an agent that says what a check found and what counts.
const [, , role, ...rest] = process.argv;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function beAControlPlane(host: string, target: string): Promise<void> {
  const controlPlane = await testControlPlane({ teardown() {} }, { host });
  const assigned = [anAssignment({ monitorId: 1, url: target, intervalSeconds: 1, timeoutSeconds: 2 })];
  controlPlane.onSession = (session) => session.sendSnapshot(assigned, 1n);
  say(`${controlPlane.enrolmentAddress} ${controlPlane.joinToken()}`);
}

async function beAProbe(controlPlane: string, joinToken: string): Promise<void> {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), 'parallax-cut-off-'));
  const checker = createChecker({ allowedPrivate: [], sourceAddress: undefined });
  await startAgent({
    stateDir,
    identity: await register({ stateDir, controlPlane, joinToken, publicAddresses: [] }),
    bootId: 'boot',
    capabilities: [],
    publicAddresses: [],
    maxInFlight: 10,
    check: async (assignment, options) => {
      const outcome = await checker.check(assignment, options);
      say(`found ${outcome.outcome} ${outcome.code ?? ''}`);
      return outcome;
    },
    denyListeners: checker.denyListeners,
    observer: { recorded: (outcome) => say(`counts ${outcome}`), began() {}, skipped() {} },
    logger: silentLogger,
    onFatal: (error) => say(`fatal ${error.message}`),
  });
  say(`state ${stateDir}`);
}

const [first = '', second = ''] = rest;
await (role === 'beyond' ? beAControlPlane(first, second) : beAProbe(first, second));
