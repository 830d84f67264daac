import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sleep } from '../ports.ts';

/** What a running agent says of itself to whoever connects to its socket. */
export type AgentStatus = Readonly<Record<string, unknown>> & { readonly pid: number };

export type AgentLock = { readonly socketPath: string; release(): Promise<void> };

/** Another agent works in this state folder. */
export class StateFolderInUse extends Error {}

/** A socket's path must stay below this on every system that we run on. */
const longestSocketPath = 100;

/**
 * Takes a state folder for this process alone: a listening Unix socket, which nobody can hold longer than the process lives. Whoever
 * connects is told the status. @throws StateFolderInUse
 */
export async function lockStateFolder(stateDir: string, status: () => AgentStatus): Promise<AgentLock> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const socketPath = socketPathOf(stateDir);
  await refuseWhenTaken(stateDir, socketPath);
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${JSON.stringify(status())}\n`);
  });
  const ownPath = `${socketPath}.${process.pid}`;
  await rm(ownPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(ownPath, resolve);
  });
  server.unref();
  await rename(ownPath, socketPath);
  // Two agents that start at the same moment both find the place free; the later rename stays, and the other sees it here.
  await sleep(50);
  const holder = await askStatus(socketPath);
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  if (holder?.pid !== process.pid) {
    await close();
    throw new StateFolderInUse(inUse(stateDir, holder?.pid));
  }
  return {
    socketPath,
    async release() {
      await rm(socketPath, { force: true });
      await close();
    },
  };
}

/** The status of the agent that works in a state folder; undefined when none does. */
export async function statusOfRunningAgent(stateDir: string): Promise<AgentStatus | undefined> {
  return askStatus(socketPathOf(stateDir));
}

async function refuseWhenTaken(stateDir: string, socketPath: string): Promise<void> {
  const holder = await askStatus(socketPath);
  if (holder !== undefined) throw new StateFolderInUse(inUse(stateDir, holder.pid));
}

const inUse = (stateDir: string, pid: number | undefined): string =>
  `the state folder ${stateDir} is in use by another probe agent${pid === undefined ? '' : ` (process ${pid})`}; stop it, or name another --state-dir`;

/** In the folder itself, or, where its path is too long for a socket, in a private folder under a name made from it. */
export function socketPathOf(stateDir: string): string {
  let real = path.resolve(stateDir);
  try {
    real = realpathSync(stateDir);
  } catch {
    // A folder that is not there yet has no links to follow.
  }
  const inside = path.join(real, 'agent.sock');
  if (inside.length <= longestSocketPath - 12) return inside;
  const folder = path.join(tmpdir(), `parallax-probe-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const facts = lstatSync(folder);
  if (!facts.isDirectory() || facts.uid !== (process.getuid?.() ?? facts.uid) || (facts.mode & 0o077) !== 0) {
    throw new Error(`${folder} must be a folder that only this account can enter; remove it`);
  }
  return path.join(folder, `${createHash('sha256').update(real).digest('hex').slice(0, 24)}.sock`);
}

function askStatus(socketPath: string): Promise<AgentStatus | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    let text = '';
    socket.setTimeout(2_000, () => socket.destroy());
    socket.setEncoding('utf8');
    socket.on('data', (part) => {
      if (text.length < 65_536) text += String(part);
    });
    // Refused or not there: nobody listens. Anything that listens but says nothing counts as an agent without a known process.
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => resolve(parseStatus(text)));
  });
}

function parseStatus(text: string): AgentStatus {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number')
      return { ...value, pid: value.pid };
  } catch {
    // Falls through: somebody listens who is not one of us.
  }
  return { pid: 0 };
}
