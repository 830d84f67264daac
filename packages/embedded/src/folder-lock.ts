import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { FolderInUseError } from './errors.ts';
import { maxSocketPathBytes } from './private-folder.ts';

const answerSchema = z.object({ pid: z.int(), state: z.enum(['claiming', 'running', 'stopping']) });
type Answer = z.infer<typeof answerSchema>;
/**
 * Who answers on a socket: 'dead' when nobody listens, 'cut' when the connection ended without a word, as it does when the holder lets go
 * while it is asked, and 'silent' when it is alive but says nothing of sense.
 */
type Asked = Answer | 'silent' | 'cut' | 'dead';

export type FolderLock = {
  /** Tells whoever asks that this run is ending, so that a new start waits instead of giving up. */
  markStopping(): void;
  release(): Promise<void>;
};

const sharedPlace = '/tmp/parallax-lock-';

type Claim = { readonly name: string; readonly server: Server; answer: Answer };

/**
 * Claims a folder for this process. The lock ends with the process, whatever ends it. A holder that says it is stopping is waited for,
 * `waitMs` at most; otherwise throws `FolderInUseError`.
 *
 * Every claimant listens on a Unix socket of its own in the folder of the lock and only then looks at the others. Names are never used
 * again, so a socket that nobody listens on can be removed by anybody at any time. Of two that see each other while both claim, the
 * later name withdraws and the earlier waits; whoever sees nobody else alive holds the lock. Of any two, the one that came second to
 * listen sees the other, so never both hold it.
 */
export async function lockFolder(
  folder: string,
  options: { readonly name?: string; readonly waitMs?: number } = {},
): Promise<FolderLock> {
  const place = lockPlace(realpathSync(folder), options.name ?? 'lock');
  const deadline = performance.now() + (options.waitMs ?? 12_000);
  for (;;) {
    const claim = await makeClaim(place);
    if (claim === undefined) continue;
    const verdict = await judge(place, claim, deadline);
    if (verdict === 'held') return heldLock(place, claim);
    await withdraw(place, claim);
    if (verdict !== 'again') throw new FolderInUseError(folder, verdict.pid);
    await sleep(5 + Math.random() * 20);
  }
}

async function judge(
  place: string,
  claim: Claim,
  deadline: number,
): Promise<'held' | 'again' | { readonly pid: number | undefined }> {
  for (;;) {
    const others = readdirSync(place).filter((name) => isClaim(name) && name !== claim.name);
    const asked = await Promise.all(others.map(async (name) => ({ name, answer: await ask(path.join(place, name)) })));
    let mustWait = false;
    let isLate = false;
    for (const { name, answer } of asked) {
      if (answer === 'dead') rmSync(path.join(place, name), { force: true });
      else if (answer === 'silent' || (answer === 'cut' && performance.now() > deadline)) return { pid: undefined };
      else if (answer === 'cut') mustWait = true;
      else if (answer.state === 'running' || performance.now() > deadline) return { pid: answer.pid };
      else if (answer.state === 'claiming' && name < claim.name) isLate = true;
      else mustWait = true;
    }
    if (isLate) return 'again';
    if (!mustWait) {
      claim.answer = { ...claim.answer, state: 'running' };
      return 'held';
    }
    await sleep(20);
  }
}

function heldLock(place: string, claim: Claim): FolderLock {
  claim.server.unref();
  return {
    markStopping: () => {
      claim.answer = { ...claim.answer, state: 'stopping' };
    },
    release: () => withdraw(place, claim),
  };
}

/** Undefined when somebody removed the folder of the lock in between. The socket gets its name only when it is listened on. */
async function makeClaim(place: string): Promise<Claim | undefined> {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const name = `${String(Date.now()).padStart(14, '0')}-${randomUUID().slice(0, 8)}`;
  const scratch = path.join(place, `n${name.slice(-12)}`);
  let claim: Claim | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify(claim?.answer ?? { pid: process.pid, state: 'claiming' }));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(scratch, resolve);
    });
    renameSync(scratch, path.join(place, name));
  } catch (error) {
    await close(server);
    // Listening in a folder that is gone is reported as EACCES by libuv.
    if (!isFolder(place)) return undefined;
    throw new Error(`cannot lock with a socket in ${place}: ${(error as Error).message}`, { cause: error });
  }
  claim = { name, server, answer: { pid: process.pid, state: 'claiming' } };
  return claim;
}

async function withdraw(place: string, claim: Claim): Promise<void> {
  rmSync(path.join(place, claim.name), { force: true });
  await close(claim.server);
  try {
    rmdirSync(place);
    if (isBelowSharedPlace(place)) rmdirSync(path.dirname(place));
  } catch {
    // Others are there, or it is gone already.
  }
}

/** In the folder itself when the path is short enough, else in a private folder of the folder's owner below /tmp. */
function lockPlace(folder: string, name: string): string {
  const near = path.join(folder, `.${name}`);
  if (Buffer.byteLength(path.join(near, 'x'.repeat(23))) <= maxSocketPathBytes) return near;
  const owner = statSync(folder).uid;
  const base = `${sharedPlace}${owner}`;
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const stat = lstatSync(base);
  if (!stat.isDirectory() || (stat.uid !== owner && stat.uid !== process.getuid?.()) || (stat.mode & 0o077) !== 0) {
    throw new Error(`${base} must be a folder of uid ${owner} with mode 0700, because it holds the lock of ${folder}`);
  }
  return path.join(base, `${createHash('sha256').update(folder).digest('hex').slice(0, 24)}.${name}`);
}

/** Only there does the folder of a lock have such a name. */
function isBelowSharedPlace(place: string): boolean {
  return place.startsWith(sharedPlace) && /^[0-9a-f]{24}\./.test(path.basename(place));
}

function isClaim(name: string): boolean {
  return /^\d{14}-[0-9a-f]{8}$/.test(name);
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

function ask(socketPath: string): Promise<Asked> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(socketPath);
    const finish = (answer: Asked) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish('silent'), 2_000);
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.length > 1_000) finish('silent');
    });
    socket.on('end', () => finish(text === '' ? 'cut' : parseAnswer(text)));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(askedByError(error.code)));
  });
}

function askedByError(code: string | undefined): 'dead' | 'cut' | 'silent' {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'dead';
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'cut' : 'silent';
}

function parseAnswer(text: string): Answer | 'silent' {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : 'silent';
  } catch {
    return 'silent';
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
