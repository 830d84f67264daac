import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { freePort } from './free-port.ts';

void t.test('a port is given once as long as its process lives, and can be listened on', async (t) => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()));
  t.equal(new Set(ports).size, ports.length);
  const [port = 0] = ports;
  t.ok(port >= 15_000 && port < 32_000, 'below those of outgoing connections');
  const file = path.join(tmpdir(), 'parallax-test-ports', String(port));
  t.ok(existsSync(file));
  t.equal(readFileSync(file, 'utf8'), String(process.pid), 'other processes are told who has it');
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
});
