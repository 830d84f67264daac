import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findBrowser, tryPing, tryTraceroute } from '@parallax/checks/trials';
import { findProgram, programFolders } from '@parallax/settings/programs';
import t from 'tap';
import { barePath } from '../../scripts/bare-path.mjs';

const { PATH, remove } = barePath();
t.teardown(remove);
const folders = programFolders({ PATH });

/** A program of each package that the gate installs. */
const optional: Readonly<Record<string, string>> = {
  nginx: 'nginx',
  'mariadb-server': 'mariadbd',
  'redis-server': 'redis-server',
  mosquitto: 'mosquitto',
  'rabbitmq-server': 'epmd',
  'openssh-server': 'sshd',
  'openssh-client': 'ssh-keygen',
  vsftpd: 'vsftpd',
  'dovecot-imapd': 'dovecot',
  'dovecot-pop3d': 'dovecot',
  'exim4-daemon-light': 'exim4',
  bind9: 'named',
  'bind9-utils': 'dnssec-signzone',
  'dnsmasq-base': 'dnsmasq',
  chrony: 'chronyd',
  slapd: 'slapd',
  freeradius: 'freeradius',
  snmpd: 'snmpd',
  'dante-server': 'danted',
  chromium: 'chromium',
  caddy: 'caddy',
  'poppler-utils': 'pdftotext',
  borgmatic: 'borgmatic',
  systemd: 'systemd-analyze',
  'docker-compose': 'docker-compose',
  fping: 'fping',
  iproute2: 'ip',
  'iputils-ping': 'ping',
  traceroute: 'traceroute',
  openssl: 'openssl',
  curl: 'curl',
  'prometheus-blackbox-exporter': 'prometheus-blackbox-exporter',
  gcc: 'gcc',
  'default-jre-headless': 'java',
  python3: 'python3',
};
/** They bring files for the compiler or modules of Python, and no program. */
const withoutProgram = new Set([
  'libc6-dev',
  'libssl-dev',
  'python3-certifi',
  'python3-dateutil',
  'python3-six',
  'python3-urllib3',
]);

void t.test('no optional program is found on a bare PATH', async (t) => {
  for (const program of Object.values(optional)) t.equal(findProgram(program, folders), undefined, program);
  t.equal(findBrowser(folders), undefined);
});

void t.test('the list of optional programs is that of the gate', async (t) => {
  const gate = readFileSync('.ci/run', 'utf8');
  const packages = ['servers', 'tools'].flatMap((name) =>
    (new RegExp(`^${name}=\\(([^)]*)\\)`, 'm').exec(gate)?.[1] ?? '').trim().split(/\s+/),
  );
  t.same(packages.filter((name) => !withoutProgram.has(name)).toSorted(), Object.keys(optional).toSorted());
});

void t.test('what the product and its tests rely on is found, and runs', async (t) => {
  for (const program of [
    'sh',
    'bash',
    'env',
    'git',
    'npm',
    'node',
    'nats-server',
    'tar',
    'gzip',
    'cp',
    'unshare',
    'tsc',
  ])
    t.ok(findProgram(program, folders), program);
  const run = (...command: string[]) =>
    execFileSync('/usr/bin/env', ['-i', `PATH=${PATH}`, ...command], { encoding: 'utf8' }).trim();
  t.match(run('git', '--version'), /^git version /);
  t.match(run('npm', '--version'), /^\d+\.\d+\.\d+$/);
  t.match(run('nats-server', '--version'), /^nats-server: v/);
  t.equal(run('node', '-p', 'process.version'), process.version);
});

void t.test('the product follows the PATH', async (t) => {
  const before = process.env['PATH'];
  process.env['PATH'] = PATH;
  t.teardown(() => {
    process.env['PATH'] = before;
  });
  t.match(await tryPing(), { works: false, reason: /neither fping nor ping/ });
  t.same(await tryTraceroute(), { path: undefined, methods: [] });
});

void t.test('the folder is removed', async (t) => {
  const made = barePath();
  const folder = made.PATH.split(path.delimiter).at(-1) ?? '';
  t.ok(existsSync(path.join(folder, 'sh')));
  made.remove();
  t.notOk(existsSync(folder));
});
