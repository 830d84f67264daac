import type { z } from 'zod';
import type { CheckContext, CheckResult, CheckType, Target } from './check.ts';
import { extendAll } from './common-settings.ts';
import { api } from './api.ts';
import { dns } from './dns.ts';
import { dnsbl } from './dnsbl.ts';
import { pagespeed } from './pagespeed.ts';
import { rdap, whois } from './whois.ts';
import { ftp, ftps } from './ftp.ts';
import { http, https } from './http.ts';
import { imap } from './imap.ts';
import { icmp, ping } from './icmp.ts';
import { mqtt } from './mqtt.ts';
import { amqp } from './amqp.ts';
import { mongodb } from './mongodb.ts';
import { mssql } from './mssql.ts';
import { mysql } from './mysql.ts';
import { kafka } from './kafka.ts';
import { gamedig } from './gamedig.ts';
import { nats } from './nats.ts';
import { pop3 } from './pop3.ts';
import { postgres } from './postgres.ts';
import { redis } from './redis.ts';
import { smtp } from './smtp.ts';
import { sftp } from './sftp.ts';
import { ssh } from './ssh.ts';
import { ssl, tls } from './ssl.ts';
import { sip } from './sip.ts';
import { radius } from './radius.ts';
import { snmp } from './snmp.ts';
import { ldap } from './ldap.ts';
import { tcp } from './tcp.ts';
import { udp } from './udp.ts';
import { ws, wss } from './ws.ts';
import { grpc } from './grpc.ts';
import { ntp } from './ntp.ts';
import { socks5 } from './socks5.ts';
import { mtproxy } from './mtproxy.ts';
import { traceroute } from './traceroute.ts';
import { docker } from './docker.ts';

/** Every check type by its protocol: the only list. Everything else (enums, forms, tables) is derived from it. */
const types = {
  http,
  https,
  tcp,
  icmp,
  ping,
  dns,
  ssl,
  tls,
  ws,
  wss,
  grpc,
  udp,
  ntp,
  socks5,
  mqtt,
  amqp,
  kafka,
  gamedig,
  nats,
  dnsbl,
  pagespeed,
  whois,
  rdap,
  postgres,
  mysql,
  redis,
  mongodb,
  mssql,
  smtp,
  imap,
  pop3,
  ldap,
  snmp,
  ssh,
  sftp,
  ftp,
  ftps,
  mtproxy,
  radius,
  sip,
  traceroute,
  docker,
  api,
} as const;
/** The same, each with the settings that all take. */
export const checkTypes = extendAll(types);

export type Protocol = keyof typeof checkTypes;
export const protocols = Object.keys(checkTypes) as [Protocol, ...Protocol[]];

/** A check type whose settings are of a kind that only it knows. */
export type AnyCheckType = Omit<CheckType, 'validateTarget' | 'run'> & {
  readonly validateTarget: (target: Target, settings: unknown) => string | undefined;
  readonly run: (target: Target, settings: unknown, context: CheckContext) => Promise<CheckResult>;
};

export function isProtocol(value: string): value is Protocol {
  return Object.hasOwn(checkTypes, value);
}

/** The check type of a protocol. */
export function checkTypeOf(protocol: Protocol): AnyCheckType {
  return checkTypes[protocol] as unknown as AnyCheckType;
}

/** The schema of a protocol's settings; `{}` is always valid input. */
export function settingsSchema(protocol: Protocol): z.ZodType {
  return checkTypes[protocol].settings();
}

/** Top-level names of a protocol's settings that are sealed at rest, never answered, logged or exported. */
export function secretFieldsOf(protocol: Protocol): readonly string[] {
  return checkTypes[protocol].secretFields;
}
