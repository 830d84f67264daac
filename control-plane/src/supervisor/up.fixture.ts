// Run by a test as a process of its own, in place of `control-plane up`: the real supervisor, PostgreSQL and nats-server, with small
// scripts in place of the control plane and the agent.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createNatsSeeds, openNatsAuthority } from '@parallax/pki';
import { testAuthority } from '@parallax/testkit';
import { runUp } from './index.ts';

const serve = `
  const server = require('node:http').createServer((request, response) => response.end('well'));
  const hasApi = (process.env.PARALLAX_ROLES ?? 'api').includes('api');
  server.listen(Number(hasApi ? process.env.PARALLAX_HTTP_PORT : process.env.PARALLAX_METRICS_PORT), '127.0.0.1');
  process.on('SIGTERM', () => process.exit(0));`;
const agent = `
  const state = process.env.PARALLAX_PROBE_STATE_DIR;
  if (process.argv[1] === 'register') require('node:fs').writeFileSync(state + '/enrolled', process.env.PARALLAX_PROBE_JOIN_TOKEN);
  else { setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(0)); }`;

const seeds = createNatsSeeds();
await runUp({
  env: process.env,
  checkout: process.argv[2] ?? '',
  parts: {
    prepareInstallation: async () => {
      const authority = openNatsAuthority(seeds);
      const now = Date.now();
      return {
        nats: {
          operator: {
            operatorJwt: authority.operatorJwt(now),
            systemAccount: authority.systemAccount,
            accounts: {
              [authority.systemAccount]: authority.systemAccountJwt(now),
              ...authority.accountJwts([], now),
            },
          },
          tls: await (await testAuthority()).issue({ names: ['localhost'] }),
        },
      };
    },
    createJoinToken: ({ name, region }) => Promise.resolve(`token of ${name} in ${region}`),
    isEnrolled: (stateDir) => existsSync(path.join(stateDir, 'enrolled')),
    serve: { command: process.execPath, args: ['-e', serve] },
    readinessPath: '/',
    agent: { command: process.execPath, args: ['-e', agent] },
  },
});
