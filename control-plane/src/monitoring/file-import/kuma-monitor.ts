/**
 * Monitors of Uptime Kuma 2.x as the backup of 1.x has them, so that both are understood by one piece of code.
 *
 * What is known of `kuma.db` (`db/knex_init_db.js` and the migrations beside it): one row of `monitor` for each monitor, with the names of the
 * backup in snake case and booleans as 0 and 1; `accepted_statuscodes_json` is a JSON array in a text; `parent` is the monitor of the type
 * `group` that contains it; tags are rows of `monitor_tag` (`monitor_id`, `tag_id`) with the name in `tag`. 2.x has added columns, such as
 * `conditions` and `ping_count`, and has renamed none of these.
 */
export type KumaRow = Readonly<Record<string, unknown>>;

/** Columns that have another name in a backup. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['invert_keyword', 'invertKeyword'],
  ['ignore_tls', 'ignoreTls'],
  ['upside_down', 'upsideDown'],
  ['auth_method', 'authMethod'],
  ['proxy_id', 'proxyId'],
]);

/** Columns that are read beside those. */
const same = [
  'id',
  'parent',
  'name',
  'type',
  'url',
  'hostname',
  'port',
  'interval',
  'timeout',
  'maxretries',
  'active',
  'method',
  'headers',
  'body',
  'keyword',
  'maxredirects',
  'dns_resolve_server',
  'dns_resolve_type',
  'basic_auth_user',
  'basic_auth_pass',
  'description',
  'conditions',
];

/** A monitor for a backup. @param tags names @param proxy the row of its proxy */
export function kumaMonitor(row: KumaRow, tags: readonly string[], proxy?: KumaRow): Record<string, unknown> {
  const fields = [...same.map((name) => [name, name] as const), ...renamed]
    .map(([column, name]) => [name, row[column]] as const)
    .filter(([, value]) => value !== undefined && value !== null);
  return {
    ...Object.fromEntries(fields),
    accepted_statuscodes: statusCodes(row['accepted_statuscodes_json']),
    tags: tags.map((name) => ({ name })),
    ...(proxy !== undefined && { proxy }),
  };
}

/** What is no JSON is handed on as it is: the import says what is wrong with it. */
function statusCodes(text: unknown): unknown {
  if (typeof text !== 'string') return [];
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A part of a backup. @param monitors each with what it is in JSON */
export type KumaPart = { readonly monitors: readonly Record<string, unknown>[] };

/** A monitor that no request can carry. */
export type KumaFault = { readonly name: string; readonly reason: string };

// What a request may hold, with room for what is around the monitors.
const aroundBytes = 100;

/**
 * Divides monitors into requests, in their order; groups come last, when their members are there.
 * @param limits of one request
 */
export function kumaParts(
  monitors: readonly Record<string, unknown>[],
  limits: { readonly rows: number; readonly bytes: number },
): { readonly parts: readonly KumaPart[]; readonly faults: readonly KumaFault[] } {
  const faults: KumaFault[] = [];
  const parts: { monitors: Record<string, unknown>[]; bytes: number }[] = [];
  for (const monitor of monitors) {
    const text = JSON.stringify(monitor);
    const bytes = Buffer.byteLength(text) + 1;
    const { name } = monitor;
    const refuse = (reason: string): number => faults.push({ name: typeof name === 'string' ? name : '', reason });
    // In JSON they would make the whole file be refused.
    if (text.includes(String.raw`\u0000`)) refuse('it has a NUL in one of its texts');
    else if (/\\ud[89a-f]/i.test(text)) refuse('one of its texts is no valid Unicode');
    else if (bytes > limits.bytes - aroundBytes) refuse(`it has ${bytes} bytes, and a request ${limits.bytes}`);
    else {
      const part = parts.at(-1);
      if (part === undefined || part.monitors.length >= limits.rows || part.bytes + bytes > limits.bytes - aroundBytes)
        parts.push({ monitors: [monitor], bytes });
      else {
        part.monitors.push(monitor);
        part.bytes += bytes;
      }
    }
  }
  return { parts: parts.map((part) => ({ monitors: part.monitors })), faults };
}
