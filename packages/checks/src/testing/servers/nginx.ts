import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

export type Nginx = Running & {
  /** The same site over TLS. */
  readonly secureUrl: string;
};

export type NginxOptions = {
  readonly certificate: ServerCertificate;
  /** With it the site over TLS asks for a certificate of this authority. */
  readonly clientAuthority?: string;
};

/**
 * nginx with a site of its own, plain and over TLS: `/index` is JSON with the status `up`, `/moved` leads there, `/in/page` is for the user
 * `user` with the password `right`. Undefined where it is not installed.
 */
export async function startNginx(t: Test, options: NginxOptions): Promise<Nginx | undefined> {
  const folder = await ownFolder(t, 'nginx');
  const [port, secure] = [await freePort(), await freePort()];
  await mkdir(join(folder, 'site/in'), { recursive: true });
  const files = {
    cert: options.certificate.cert,
    key: options.certificate.key,
    users: 'user:{PLAIN}right\n',
    'site/index': '{"status":"up","list":[1,2,3]}',
    'site/in/page': 'inside',
    ...(options.clientAuthority !== undefined && { ca: options.clientAuthority }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  const mutual =
    options.clientAuthority === undefined ? '' : `ssl_client_certificate ${folder}/ca; ssl_verify_client on;`;
  await writeFile(
    join(folder, 'conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
    http { access_log off; root ${folder}/site; ${paths.join(' ')}
      server { listen 127.0.0.1:${port};
        location = /moved { return 301 /index; }
        location /in/ { auth_basic "in"; auth_basic_user_file ${folder}/users; } }
      server { listen 127.0.0.1:${secure} ssl; ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key; ${mutual} } }`,
  );
  const server = await startReal(t, {
    program: 'nginx',
    args: ['-p', folder, '-c', join(folder, 'conf'), '-e', 'stderr'],
    ready: async () => (await accepts(port)) && accepts(secure),
  });
  return (
    server && {
      port,
      url: `http://127.0.0.1:${port}/index`,
      secureUrl: `https://127.0.0.1:${secure}/index`,
      stop: server.stop,
    }
  );
}
