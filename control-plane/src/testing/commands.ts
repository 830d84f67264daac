import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from '@parallax/testkit';
import { program } from '@parallax/testkit/program';
import { accessTokensCapability } from '../identity/tokens/index.ts';
import { groupsApi } from '../monitoring/groups/testing.ts';
import type { GroupsApi } from '../monitoring/groups/testing.ts';
import { probesCapability } from '../monitoring/probes/index.ts';

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

export type CommandsStage = {
  readonly api: GroupsApi;
  /** Runs a command of the control plane as a person does, with the owner's token in the environment. */
  readonly run: (args: readonly string[], env?: Record<string, string>, url?: string) => Promise<Ended>;
  /** A personal access token of an account. */
  readonly tokenOf: (accessToken: string) => Promise<string>;
  /** The owner's. */
  readonly token: string;
  readonly folder: string;
  /** Writes a file into the folder. @returns its path */
  readonly file: (name: string, content: string) => string;
};

/** For tests of commands that use the REST API: the API with monitors, groups and tokens, and a folder. */
export async function commandsStage(t: TestContext): Promise<CommandsStage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-commands-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const api = await groupsApi(t, { more: [accessTokensCapability, probesCapability] });
  const tokenOf = async (accessToken: string): Promise<string> => {
    const made = await api.call('POST', '/api/v1/auth/tokens', { token: accessToken, body: { name: 'as code' } });
    return String(made.body['token']);
  };
  const token = await tokenOf(api.token);
  return {
    api,
    tokenOf,
    token,
    folder,
    run: async (args, env = {}, url = api.url) => {
      const child = spawn(process.execPath, [program('control-plane/src/main.ts'), ...args, '--url', url], {
        env: { PATH: process.env['PATH'], PARALLAX_TOKEN: token, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { code, out, err };
    },
    file: (name, content) => {
      const place = path.join(folder, name);
      writeFileSync(place, content);
      return place;
    },
  };
}
