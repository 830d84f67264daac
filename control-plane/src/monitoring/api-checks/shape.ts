import { invalidInput } from '@parallax/api-contract';
import type { ApiCheck, CreateApiCheck, Monitor, UpdateApiCheck, UpdateMonitor } from '@parallax/api-contract';
import { apiSettings, commonShape, nameShape, proxyShape, stepOrigin } from '@parallax/checks';
import { composeSettings } from '../monitors/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What stands below `settings` of a monitor and is flat in an API check. */
const settingNames: ReadonlySet<string> = new Set(
  Object.keys({ ...apiSettings().shape, ...commonShape(), ...nameShape(), ...proxyShape() }),
);

/** The settings among the fields of a body; only keys that were sent. */
export function settingsIn(body: object): Fields {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => settingNames.has(name) && value !== undefined),
  );
}

type FlatSettings =
  | 'steps'
  | 'variables'
  | 'secrets'
  | 'ca_certificates'
  | 'assertions'
  | 'inverted'
  | 'all_addresses'
  | 'bad_address_severity'
  | 'resolver'
  | 'proxy'
  | 'proxy_password'
  | 'proxy_ca_certificates';

function fieldsIn<Body extends object>(body: Body): Omit<Body, FlatSettings> {
  const entries = Object.entries(body).filter(([name]) => !settingNames.has(name));
  return Object.fromEntries(entries) as Omit<Body, FlatSettings>;
}

/**
 * The monitor that an API check is.
 * @throws Problem `invalid_input` where the settings are wrong, by their place in a monitor, and where neither body nor step says where to go
 */
export function newMonitorOf<Body extends Pick<CreateApiCheck, 'url' | 'steps'>>(
  body: Body,
): Omit<Body, FlatSettings | 'url'> & { readonly url: string; readonly protocol: 'api'; readonly settings: Fields } {
  const { url, ...fields } = { url: body.url, ...fieldsIn(body) };
  const settings = settingsIn(body);
  const named = fields as unknown as Omit<Body, FlatSettings | 'url'>;
  return { ...named, protocol: 'api', url: url ?? originOfSteps(settings), settings };
}

/** The change of a monitor that a change of an API check is. */
export function monitorChangeOf(body: UpdateApiCheck): UpdateMonitor {
  const settings = settingsIn(body);
  return { ...fieldsIn(body), ...(Object.keys(settings).length === 0 ? {} : { settings }) };
}

/** A monitor of the protocol `api` as an API check. Its settings are as its schema made them when they were stored. */
export function apiCheckOf(monitor: Monitor, secretNames: readonly string[]): ApiCheck {
  const {
    protocol: _protocol,
    settings,
    dnsbl_servers: _lists,
    domain_thresholds_days: _days,
    domain_expires_at: _ends,
    ...fields
  } = monitor;
  const stored = settings as Partial<ApiCheck>;
  return {
    ...fields,
    steps: stored.steps ?? [],
    variables: stored.variables ?? {},
    secret_names: [...secretNames],
    ca_certificates: stored.ca_certificates ?? null,
    assertions: stored.assertions ?? null,
    inverted: stored.inverted ?? null,
    all_addresses: stored.all_addresses ?? null,
    bad_address_severity: stored.bad_address_severity ?? null,
    resolver: stored.resolver ?? null,
    proxy: stored.proxy ?? null,
    has_proxy_password: stored.has_proxy_password ?? false,
    proxy_ca_certificates: stored.proxy_ca_certificates ?? null,
  };
}

/** Where the first step goes that says so itself. */
function originOfSteps({ secrets: _secrets, ...settings }: Fields): string {
  // Judged first: what cannot be read has no origin, and is to be refused by its own name.
  const { open } = composeSettings('api', {}, { settings, topLevel: {} });
  const { steps, variables } = open as unknown as Pick<ApiCheck, 'steps' | 'variables'>;
  const found = steps.map(({ url }) => stepOrigin(url, variables)).find((origin) => origin !== undefined);
  if (found !== undefined) return found;
  throw invalidInput('body', '/url', 'required', 'the URL is needed, since no step says where it goes');
}
