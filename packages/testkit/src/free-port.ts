import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Below the ports that systems give to outgoing connections, which would take one between its choice and the start of its server. */
const testPorts = { from: 15_000, to: 31_999 };

/**
 * A port of loopback that nobody listens on, by TCP or UDP, and that no other test is given as long as this process lives. For programs that cannot be
 * told to take any, and for what is to be refused; others listen on port 0.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(testPorts.from, testPorts.to + 1);
    if (
      reserve(port) &&
      (await isFree(createServer(), (server) => server.listen(port, '127.0.0.1'))) &&
      (await isFree(createSocket('udp4'), (socket) => socket.bind(port, '127.0.0.1')))
    )
      return port;
  }
}

/**
 * Several test files choose at once, and some start what they chose seconds later. A file for each port says which process has it; one whose process is
 * gone is taken away, and its port may be drawn again.
 */
function reserve(port: number): boolean {
  const folder = path.join(tmpdir(), 'parallax-test-ports');
  const file = path.join(folder, String(port));
  try {
    // Tests run under other accounts, too.
    if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o1777);
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch (error) {
    // Where no file can be written, to be free now has to do.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return true;
    if (!isHeld(file)) rmSync(file, { force: true });
    return false;
  }
  return true;
}

function isHeld(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isFree<Listener extends Server | Socket>(
  listener: Listener,
  begin: (listener: Listener) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    listener.once('error', () => resolve(false));
    listener.once('listening', () => listener.close(() => resolve(true)));
    begin(listener);
  });
}
