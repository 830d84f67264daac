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
  const program = (file: string, ...args: string[]) => ({
    command: process.execPath,
    args: [path.join(checkout, file), ...args],
  });
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
    serve: program('control-plane/src/main.ts', 'serve'),
    readinessPath: '/health/readiness',
    agent: { command: process.execPath, args: [...agentNodeOptions(), path.join(checkout, 'probe-agent/src/main.ts')] },
  };
}

/** What Node is told for an agent, as its executable is: what is new in memory would grow to 125 MB otherwise, for collections that take long. */
function agentNodeOptions(): string[] {
  return JSON.parse(readFileSync(path.join(checkout, 'probe-agent/node-options.json'), 'utf8')) as string[];
}
