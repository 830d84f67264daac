import { constants, existsSync, readFileSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { getServers, Resolver } from 'node:dns';
import path from 'node:path';
import { messageOf } from '../ports.ts';
import { fine } from './finding.ts';
import type { Finding } from './finding.ts';

const mebibyte = 1024 * 1024;
/** What the log of results may grow to. */
const logBytes = 1024 * mebibyte;
const leastBytes = 64 * mebibyte;
/** Beside those of checks: the log, the session, the broker, programs that are started. */
const ownFiles = 256;
const nameServerMs = 2_000;
/** A clock before this is certainly wrong, and certificates would be judged by it. */
const earliestMs = Date.UTC(2025, 0, 1);

/** Whether the state folder can be written to and has room for the log. */
export async function inspectDisk(stateDir: string): Promise<Finding> {
  const name = 'disk';
  let folder = path.resolve(stateDir);
  while (!existsSync(folder)) folder = path.dirname(folder);
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return diskFinding(folder, bavail * bsize);
  } catch (error) {
    const remedy = `mkdir -p ${stateDir} && chown ACCOUNT ${stateDir}, with the account of the agent`;
    return { name, level: 'fail', detail: `${folder} cannot be written to (${messageOf(error)})`, remedy };
  }
}

/** @param freeBytes what the account of the agent may still write */
export function diskFinding(folder: string, freeBytes: number): Finding {
  const free = `${Math.floor(freeBytes / mebibyte)} MiB are free in ${folder}`;
  if (freeBytes >= logBytes) return fine('disk', free);
  return {
    name: 'disk',
    level: freeBytes < leastBytes ? 'fail' : 'warn',
    detail: `${free}; the log of results takes up to ${logBytes / mebibyte} MiB while the control plane is away`,
    remedy: `free some room there, or give --state-dir a folder on another disk; "df ${folder}" shows it`,
  };
}

/** Whether as many files may be open as there may be checks at once. */
export function inspectOpenFiles(maxInFlight: number): Finding {
  let limits = '';
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return fine('open files', 'the limit of this system is not known');
  }
  return openFilesFinding(limits, maxInFlight);
}

/** @param limits text of /proc/self/limits */
export function openFilesFinding(limits: string, maxInFlight: number): Finding {
  const match = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits);
  // Node raises its own limit to the hard one at its start.
  const limit = match?.[2] === 'unlimited' ? Infinity : Number(match?.[2]);
  const needed = maxInFlight + ownFiles;
  if (Number.isNaN(limit)) return fine('open files', 'the limit of this system is not known');
  if (limit >= needed) return fine('open files', `at most ${limit}; ${needed} are needed`);
  return {
    name: 'open files',
    level: 'warn',
    detail: `at most ${limit}; ${maxInFlight} checks at once need ${needed}`,
    remedy: `LimitNOFILE=65536 in its unit (ulimit -n 65536 in a shell), or --max-in-flight ${Math.max(1, limit - ownFiles)}`,
  };
}

/** Where a program says that it keeps the clock right; each is a file that is there while it runs. */
const clockKeepers = [
  ['systemd-timesyncd', '/run/systemd/timesync/synchronized'],
  ['chrony', '/run/chrony/chronyd.pid'],
  ['chrony', '/run/chronyd.pid'],
  ['ntpsec', '/run/ntpd.pid'],
  ['openntpd', '/run/ntpd.sock'],
] as const;

/** @param offsetMs wall clock of this machine minus that of the control plane; undefined without a running agent */
export function inspectClock(nowMs: number, offsetMs: number | undefined): Finding {
  const keeper = clockKeepers.find(([, file]) => existsSync(file))?.[0];
  return clockFinding(nowMs, offsetMs, keeper);
}

/** Results carry the control plane's time; the machine's own only judges certificates and stamps the log. */
export function clockFinding(nowMs: number, offsetMs: number | undefined, keeper: string | undefined): Finding {
  const name = 'clock';
  const shown = new Date(nowMs).toISOString();
  const remedy = 'apt-get install chrony';
  if (nowMs < earliestMs)
    return { name, level: 'fail', detail: `${shown} cannot be right: every certificate looks wrong`, remedy };
  if (offsetMs !== undefined && Math.abs(offsetMs) > 5_000)
    return { name, level: 'warn', detail: `${Math.round(offsetMs / 1000)} s off the control plane's`, remedy };
  if (offsetMs !== undefined) return fine(name, `${offsetMs} ms off the control plane's`);
  if (keeper !== undefined) return fine(name, `${shown}, kept right by ${keeper}`);
  const detail = `${shown}; nothing was found here that keeps it right (a container has the clock of its host)`;
  return { name, level: 'warn', detail, remedy };
}

/** Whether the name servers of this machine answer; asks each for the root's own name servers. */
export async function inspectNameServers(servers: readonly string[] = getServers()): Promise<Finding> {
  const answers = await Promise.all(servers.map(async (server) => ({ server, problem: await askServer(server) })));
  return nameServersFinding(answers);
}

export function nameServersFinding(
  answers: readonly { readonly server: string; readonly problem: string | undefined }[],
): Finding {
  const name = 'name servers';
  const remedy =
    'name one that answers in /etc/resolv.conf (nameserver ADDRESS), or let this machine reach it on port 53';
  if (answers.length === 0)
    return { name, level: 'fail', detail: 'none is named: no name can be checked from here', remedy };
  const silent = answers.filter(({ problem }) => problem !== undefined);
  if (silent.length === 0) return fine(name, `${answers.map(({ server }) => server).join(', ')} answer`);
  const said = silent.map(({ server, problem }) => `${server} (${problem ?? ''})`).join(', ');
  const all = silent.length === answers.length;
  const detail = all ? `none answers: ${said}; no name can be checked from here` : `some do not answer: ${said}`;
  return { name, level: all ? 'fail' : 'warn', detail, remedy };
}

/** Why a server did not answer at all. An answer that is an error is one. */
function askServer(server: string): Promise<string | undefined> {
  const resolver = new Resolver({ timeout: nameServerMs, tries: 1 });
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolver.cancel(), nameServerMs + 500);
    try {
      resolver.setServers([server]);
      resolver.resolveNs('.', (error) => {
        clearTimeout(timer);
        resolve(
          error !== null && /TIMEOUT|ECONNREFUSED|ECANCELLED|EHOST|ENET/.test(error.code ?? '')
            ? (error.code ?? '')
            : undefined,
        );
      });
    } catch (error) {
      clearTimeout(timer);
      resolve(messageOf(error));
    }
  });
}
