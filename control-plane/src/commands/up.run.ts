import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '@parallax/settings';
import { runUp } from '../supervisor/index.ts';
import type { InstallationInput, UpParts } from '../supervisor/index.ts';
import { checkout } from './command-settings.ts';

/** Runs the product from this checkout. */
export function runUpHere(env: Environment): Promise<void> {
  return runUp({ env, checkout, parts: upParts() });
}

function upParts(): UpParts {
  const given = ({ settings, databaseUrls: urls }: InstallationInput) => ({
    settings: { ...settings, databaseApiUrl: urls.api, databaseWorkerUrl: urls.worker },
    databaseUrl: urls.owner,
  });
  return {
    prepareInstallation: async (input) => {
      const { prepare } = await import('./installation.ts');
      return prepare(given(input).settings, given(input).databaseUrl);
    },
    createJoinToken: async (input) => {
      const { makeJoinToken } = await import('./make-join-token.ts');
      return makeJoinToken(given(input).settings, given(input).databaseUrl, { ...input, replacesAbsent: true });
    },
    isEnrolled: (stateDir) => existsSync(path.join(stateDir, 'identity.json')),
    serve: { command: process.execPath, args: [controlPlane(), 'serve'] },
    readinessPath: '/health/readiness',
    agent: { command: process.execPath, args: [...agentNodeOptions(), probeAgent()] },
  };
}

/** What runs now: the source, or a bundle of it (`scripts/programs/bundle.mjs`). */
function controlPlane(): string {
  return process.argv[1] ?? path.join(checkout, 'control-plane/src/main.ts');
}

/** In the same form. */
function probeAgent(): string {
  const own = controlPlane();
  return own.endsWith('.mjs')
    ? path.join(path.dirname(own), 'probe-agent.mjs')
    : path.join(checkout, 'probe-agent/src/main.ts');
}

/** What Node is told for an agent, as its executable is: what is new in memory would grow to 125 MB otherwise, for collections that take long. */
function agentNodeOptions(): string[] {
  return JSON.parse(readFileSync(path.join(checkout, 'probe-agent/node-options.json'), 'utf8')) as string[];
}
