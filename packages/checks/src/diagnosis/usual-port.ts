/** By scheme or check type; 0 where one has to be written. IANA's, or the usual one where it has none. */
const plain: Readonly<Record<string, number>> = {
  amqp: 5672,
  docker: 2375,
  ftp: 21,
  ftpes: 21,
  grpc: 0,
  imap: 143,
  kafka: 9092,
  ldap: 389,
  mariadb: 3306,
  mongodb: 27_017,
  mqtt: 1883,
  mssql: 1433,
  mtproxy: 443,
  mysql: 3306,
  nats: 4222,
  pop3: 110,
  postgres: 5432,
  postgresql: 5432,
  redis: 6379,
  sftp: 22,
  sip: 5060,
  smtp: 25,
  socks: 1080,
  socks5: 1080,
  socks5h: 1080,
  sqlserver: 1433,
  ssh: 22,
  submission: 587,
  tcp: 0,
  valkey: 6379,
};
/** The same for those that begin with TLS. */
const secure: Readonly<Record<string, number>> = {
  amqps: 5671,
  ftps: 990,
  grpcs: 443,
  imaps: 993,
  ldaps: 636,
  mqtts: 8883,
  pop3s: 995,
  rediss: 6379,
  sips: 5061,
  smtps: 465,
  ssl: 443,
  submissions: 465,
  tls: 443,
};

/** Whether a scheme, or a check type, begins with TLS. */
export function isSecureScheme(scheme: string): boolean {
  return Object.hasOwn(secure, scheme);
}

/** The port of a target that names none; 0 where one has to be written. `scheme` is that of the target, or else the check type. */
export function usualPort(protocol: string, scheme: string, settings: Readonly<Record<string, unknown>>): number {
  const { tls, starttls, transport } = settings;
  if (scheme === 'ftps' && (tls === 'explicit' || tls === 'starttls')) return 21;
  if (scheme === 'sip' && transport === 'tls') return 5061;
  if ((scheme === 'ssl' || scheme === 'tls') && typeof starttls === 'string') return known(starttls) ?? 443;
  return known(scheme) ?? known(protocol) ?? 0;
}

function known(name: string): number | undefined {
  if (Object.hasOwn(secure, name)) return secure[name];
  return Object.hasOwn(plain, name) ? plain[name] : undefined;
}
