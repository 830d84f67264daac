import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { runCheck } from '../../run.ts';
import { testContext } from '../context.ts';
import { freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

const modules = 'system_mib,sysORTable,snmpv3mibs,usmConf,vacm_conf,vacm_vars,snmpEngine,usmStats,usmUser';

/**
 * The agent of Net-SNMP with the communities `public` and `s3cret`, and users of version 3 for each way of authentication: `open`,
 * `reader` (SHA-1), `old` (MD5) and `secret` (SHA-256, AES). Undefined where it is not installed.
 */
export async function startSnmpd(t: Test): Promise<Running | undefined> {
  const folder = await ownFolder(t, 'snmpd');
  const port = await freePort();
  const url = `127.0.0.1:${port}`;
  await writeFile(
    join(folder, 'snmpd.conf'),
    `agentaddress udp:127.0.0.1:${port}
rocommunity s3cret 127.0.0.1
rocommunity public 127.0.0.1
sysName box.test s3cret
sysServices 72
createUser open
createUser reader SHA "authenticate me"
createUser old MD5 "authenticate me"
createUser secret SHA-256 "authenticate me" AES "encrypt me too"
rouser open noauth
rouser reader auth
rouser old auth
rouser secret priv
`,
  );
  const server = await startReal(t, {
    program: 'snmpd',
    args: ['-f', '-C', '-c', join(folder, 'snmpd.conf'), '-Lo', '-I', modules],
    env: { SNMP_PERSISTENT_DIR: join(folder, 'state'), MIBS: '' },
    ready: async () => (await runCheck('snmp', { url }, {}, testContext({ timeoutMs: 300 }))).outcome === 'ok',
  });
  return server && { port, url, stop: server.stop };
}
