import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { runCheck } from '../../run.ts';
import { testContext } from '../context.ts';
import { freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

/** chronyd of stratum 7, which leaves the clock of the machine alone; undefined where it is not installed. */
export async function startChronyd(t: Test): Promise<Running | undefined> {
  const folder = await ownFolder(t, 'chrony');
  const port = await freePort();
  const url = `127.0.0.1:${port}`;
  const lines = [
    `port ${port}`,
    'cmdport 0',
    'bindaddress 127.0.0.1',
    'bindcmdaddress /',
    'allow 127.0.0.1',
    'local stratum 7',
    `pidfile ${folder}/chronyd.pid`,
  ];
  await writeFile(join(folder, 'chrony.conf'), lines.join('\n'));
  const server = await startReal(t, {
    program: 'chronyd',
    // Without control of the clock, in the foreground.
    args: ['-x', '-d', '-U', '-f', join(folder, 'chrony.conf')],
    ready: async () => (await runCheck('ntp', { url }, {}, testContext({ timeoutMs: 500 }))).outcome === 'ok',
  });
  return server && { port, url, stop: server.stop };
}
