import { groupProtocol } from '@parallax/api-contract';
import { z } from 'zod';
import { namedGroupSettings, namedGroupTarget } from '../../../groups/check/index.ts';
import { jsonOf, RowFault } from '../file/cells.ts';
import { present, readRow, Untranslatable } from './imported.ts';
import type { ImportedRow, RowReader } from './imported.ts';
import { kumaProxySchema, proxySettings } from './kuma-proxy.ts';
import { hostTarget, portTarget, webTarget } from './targets.ts';

const text = z.string().max(100_000).nullish();
const number = z.number().nullish();
const flag = z.union([z.boolean(), z.number(), z.null()]).optional();

/** What a monitor has in a backup of Uptime Kuma 1.x (`monitor.toJSON` there). Unknown fields are passed over. */
const monitorSchema = z.object({
  id: number,
  /** The group that it is in. */
  parent: number,
  name: text,
  type: z.string().max(100),
  url: text,
  hostname: text,
  port: z.union([z.number(), z.string().max(10)]).nullish(),
  interval: number,
  timeout: number,
  maxretries: number,
  active: flag,
  method: text,
  headers: text,
  body: text,
  keyword: text,
  invertKeyword: flag,
  ignoreTls: flag,
  upsideDown: flag,
  maxredirects: number,
  accepted_statuscodes: z.array(z.string().max(20)).max(100).nullish(),
  dns_resolve_server: text,
  dns_resolve_type: text,
  basic_auth_user: text,
  basic_auth_pass: text,
  authMethod: text,
  /** Of 2.x: a JSON array. */
  conditions: text,
  description: text,
  proxyId: number,
  /** The proxy itself; it stands beside the monitors in a backup. */
  proxy: kumaProxySchema.nullish(),
  tags: z
    .array(z.object({ name: z.string().max(200) }))
    .max(100)
    .nullish(),
});
type KumaMonitor = z.infer<typeof monitorSchema>;

/** Rows of a backup. */
export function uptimeKuma(monitors: readonly unknown[]): readonly ImportedRow[] {
  const parsed = monitors.map((monitor) => monitorSchema.safeParse(monitor));
  const rows = parsed.map((each): ImportedRow => {
    if (each.success) return readRow(readMonitor, each.data, labelOf(each.data));
    const [issue] = each.error.issues;
    const reason = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`;
    return { kind: 'failed', code: 'invalid_cell', reason, name: undefined, url: undefined };
  });
  return withGroups(
    parsed.map((each) => each.data),
    rows,
  );
}

/** The rows with those of groups, which are made when the others are known. @param monitors undefined where one cannot be read */
function withGroups(
  monitors: readonly (KumaMonitor | undefined)[],
  rows: readonly ImportedRow[],
): readonly ImportedRow[] {
  const children = childrenOf(monitors);
  const placesIn = (group: KumaMonitor) => (typeof group.id === 'number' ? (children.get(group.id) ?? []) : []);
  const imported = new Set(rows.flatMap((row, place) => (row.kind === 'monitor' ? [place] : [])));
  // A group may be in a group: one level more is known with each turn.
  for (let before = -1; before !== imported.size; ) {
    before = imported.size;
    for (const [place, monitor] of monitors.entries()) {
      if (monitor?.type === 'group' && placesIn(monitor).some((child) => imported.has(child))) imported.add(place);
    }
  }
  return rows.map((row, place) => {
    const group = monitors[place];
    if (group?.type !== 'group' || !imported.has(place)) return row;
    const names = placesIn(group).map((child) => ({
      place: child,
      name: imported.has(child) ? filled(monitors[child]?.name) : undefined,
    }));
    return groupRow(group, names);
  });
}

/** Places in the file of what is in a group, by the identifier of the group. */
function childrenOf(monitors: readonly (KumaMonitor | undefined)[]): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const [place, monitor] of monitors.entries()) {
    if (typeof monitor?.parent !== 'number') continue;
    const known = children.get(monitor.parent);
    if (known === undefined) children.set(monitor.parent, [place]);
    else known.push(place);
  }
  return children;
}

/** A group is down while one of its members is, which is what a group monitor is that needs all of them. What cannot be imported is no member. */
function groupRow(
  group: KumaMonitor,
  children: readonly { readonly place: number; readonly name: string | undefined }[],
): ImportedRow {
  const readGroup: RowReader<KumaMonitor> = (monitor, warnings) => {
    for (const { place, name } of children) {
      if (name === undefined)
        warnings.push(`left out of the group: row ${place + 1}, which is not imported or has no name`);
    }
    const watches = namedGroupSettings.safeParse({ monitors: children.flatMap(({ name }) => name ?? []) });
    if (!watches.success) throw new RowFault('invalid_cell', `members: ${watches.error.issues[0]?.message ?? ''}`);
    const target = { url: namedGroupTarget(watches.data), protocol: groupProtocol };
    return { body: present({ ...target, ...commonOf(monitor) }), watches: watches.data, lacking: [] };
  };
  return readRow(readGroup, group, labelOf(group));
}

function labelOf({ name, url, hostname }: KumaMonitor) {
  return { name: filled(name), url: filled(url === 'https://' ? undefined : url) ?? filled(hostname) };
}

const readMonitor: RowReader<KumaMonitor> = (monitor, warnings) => ({
  body: present({
    ...targetOf(monitor, warnings),
    ...commonOf(monitor),
    timeout_seconds:
      typeof monitor.timeout === 'number' && monitor.timeout > 0 ? Math.min(60, Math.ceil(monitor.timeout)) : undefined,
    confirmations:
      typeof monitor.maxretries === 'number' ? Math.min(5, Math.max(1, Math.floor(monitor.maxretries) + 1)) : undefined,
  }),
  lacking: [],
});

function commonOf(monitor: KumaMonitor) {
  return {
    name: filled(monitor.name),
    description: filled(monitor.description),
    interval_seconds: monitor.interval ?? undefined,
    is_active: monitor.active === undefined || monitor.active === null ? undefined : isOn(monitor.active),
    tags: monitor.tags?.map((tag) => tag.name),
  };
}

function targetOf(monitor: KumaMonitor, warnings: string[]): { readonly url: string } & Record<string, unknown> {
  const inverted = isOn(monitor.upsideDown) ? { inverted: true } : {};
  switch (monitor.type) {
    case 'http':
    case 'keyword':
      return webOf(monitor, inverted, warnings);
    case 'port':
      return { url: portTarget(hostOf(monitor), portOf(monitor)), protocol: 'tcp', settings: inverted };
    case 'ping':
      return { url: hostTarget(hostOf(monitor), warnings), protocol: 'ping', settings: inverted };
    case 'dns': {
      const server = filled(monitor.dns_resolve_server)?.split(',')[0]?.trim();
      const settings = { server, record_type: filled(monitor.dns_resolve_type) };
      if (!['[]', undefined].includes(filled(monitor.conditions))) warnings.push('its conditions are left out');
      return {
        url: hostTarget(hostOf(monitor), warnings),
        protocol: 'dns',
        settings: { ...present(settings), ...inverted },
      };
    }
    case 'push':
      throw new Untranslatable('a push monitor is a heartbeat; create a heartbeat');
    case 'group':
      // One with monitors is made when these are known.
      throw new Untranslatable('a group without monitors that are imported');
    default:
      throw new Untranslatable(
        `monitors of the type "${monitor.type.slice(0, 50)}" cannot be translated; create it by hand`,
      );
  }
}

function webOf(monitor: KumaMonitor, inverted: Record<string, unknown>, warnings: string[]) {
  const address = filled(monitor.url);
  if (address === undefined) throw new RowFault('url_missing', 'the URL is missing');
  const keyword = monitor.type === 'keyword' ? filled(monitor.keyword) : undefined;
  if (monitor.type === 'keyword' && keyword === undefined) {
    throw new RowFault('keyword_missing', 'a check for a keyword needs the keyword');
  }
  const method = filled(monitor.authMethod);
  const isBasic = method === undefined || method === 'basic';
  if (!isBasic) warnings.push(`the authentication "${method.slice(0, 50)}" is left out`);
  const username = isBasic ? filled(monitor.basic_auth_user) : undefined;
  const headers = filled(monitor.headers);
  const statuses = monitor.accepted_statuscodes ?? [];
  const settings = {
    // Headers of a backup may hold tokens, and nobody says which.
    secret_headers: headers === undefined ? undefined : jsonOf(headers, 'headers'),
    username,
    password: username === undefined ? undefined : (monitor.basic_auth_pass ?? undefined),
    ...(typeof monitor.proxyId === 'number' && proxySettings(monitor.proxy ?? undefined, warnings)),
    ...inverted,
  };
  return present({
    ...webTarget(address, warnings),
    method: filled(monitor.method),
    body: filled(monitor.body),
    expected_status:
      statuses.length === 0 ? undefined : statuses.map((each) => (/^[0-9]{3}$/.test(each) ? Number(each) : each)),
    verify_tls: isOn(monitor.ignoreTls) ? false : undefined,
    follow_redirects: monitor.maxredirects === 0 ? false : undefined,
    keyword: isOn(monitor.invertKeyword) ? undefined : keyword,
    keyword_absent: isOn(monitor.invertKeyword) ? keyword : undefined,
    settings: present(settings),
  });
}

function hostOf(monitor: KumaMonitor): string {
  const host = filled(monitor.hostname);
  if (host === undefined) throw new RowFault('url_missing', 'the hostname is missing');
  return host;
}

function portOf({ port }: KumaMonitor): number | undefined {
  const number = Number(port ?? Number.NaN);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

const isOn = (value: boolean | number | null | undefined): boolean => value === true || value === 1;

function filled(value: string | null | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === '' ? undefined : trimmed;
}
