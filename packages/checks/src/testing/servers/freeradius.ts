import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

const login = { secret: 'between us', username: 'alice', password: 'open sesame, but longer than one block' };

/** FreeRADIUS with one user, whose password it says in its answer; undefined where it is not installed. */
export async function startFreeradius(t: Test): Promise<(Running & typeof login) | undefined> {
  const folder = await ownFolder(t, 'radius');
  const port = await freePort();
  await mkdir(join(folder, 'logs'));
  await writeFile(join(folder, 'dictionary'), '$INCLUDE /usr/share/freeradius/dictionary\n');
  await writeFile(
    join(folder, 'users'),
    `${login.username} Cleartext-Password := "${login.password}"\n\tReply-Message = "Hello ${login.username}, ${login.password}"\n`,
  );
  await writeFile(
    join(folder, 'radiusd.conf'),
    `name = radiusd
prefix = /usr
localstatedir = ${folder}
logdir = ${folder}/logs
run_dir = ${folder}
raddbdir = ${folder}
libdir = /usr/lib/freeradius
pidfile = ${folder}/radiusd.pid
max_request_time = 5
security {
  max_attributes = 200
  reject_delay = 0
  status_server = yes
  allow_core_dumps = no
}
thread pool {
  start_servers = 1
  max_servers = 2
  min_spare_servers = 1
  max_spare_servers = 2
  max_requests_per_server = 0
}
client local {
  ipaddr = 127.0.0.1
  secret = "${login.secret}"
  require_message_authenticator = yes
}
modules {
  pap {
  }
  files {
    usersfile = ${folder}/users
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = ${port}
  }
  authorize {
    files
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
  }
}
`,
  );
  const server = await startReal(t, {
    program: 'freeradius',
    args: ['-f', '-l', 'stdout', '-d', folder, '-D', '/usr/share/freeradius'],
    ready: /Ready to process requests/,
  });
  return server && { port, url: `127.0.0.1:${port}`, ...login, stop: server.stop };
}
