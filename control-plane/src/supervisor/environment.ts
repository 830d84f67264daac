import {
  agentSettings,
  controlPlaneSettings,
  isPublished,
  localTargets,
  type ControlPlaneSettings,
} from '@parallax/settings';
import type { DatabaseUrls } from './parts.ts';

export type Ports = { readonly http: number; readonly grpc: number; readonly enrolment: number; readonly nats: number };
type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of `up`: its own defaults where nothing was named, absolute data folder, ports as chosen. */
export function settingsOfUp(given: ControlPlaneSettings, dataDir: string, ports: Ports): ControlPlaneSettings {
  return Object.freeze({
    ...given,
    dataDir,
    httpPort: ports.http,
    grpcPort: ports.grpc,
    enrolmentPort: ports.enrolment,
    natsPort: ports.nats,
    localProbes: given.localProbes ?? 1,
    allowedPrivateTargets: given.allowedPrivateTargets ?? [],
    administratorPrivateTargets: given.administratorPrivateTargets ?? defaultOfAdministrators(given),
    publicUrl: given.publicUrl ?? publicUrl(given, ports.http),
  });
}

/** A convenience of one's own machine, and for who runs it: whoever else has an account there was not asked for. */
function defaultOfAdministrators(given: ControlPlaneSettings): readonly string[] {
  return given.allowedPrivateTargets !== undefined || isPublished(given) ? [] : localTargets;
}

/** What a person types into the browser. A name, not 127.0.0.1: passkeys need one. */
function publicUrl(settings: ControlPlaneSettings, port: number): string {
  const isLocal = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(settings.httpHost);
  const host = isLocal ? 'localhost' : settings.httpHost.includes(':') ? `[${settings.httpHost}]` : settings.httpHost;
  return `http://${host}:${port}`;
}

/** The whole environment of `serve`: what this process was given, with the settings in force in place of the named ones. */
export function environmentOfServe(
  env: Environment,
  settings: ControlPlaneSettings,
  urls: DatabaseUrls,
): Record<string, string> {
  return {
    ...compileCache(settings),
    ...inherited(env, (name) => !isAgentVariable(name)),
    ...replaced('DATA_DIR', settings.dataDir),
    ...replaced('HTTP_PORT', String(settings.httpPort)),
    ...replaced('GRPC_PORT', String(settings.grpcPort)),
    ...replaced('ENROLMENT_PORT', String(settings.enrolmentPort)),
    ...replaced('NATS_PORT', String(settings.natsPort)),
    ...replaced('ALLOWED_PRIVATE_TARGETS', networksText(settings.allowedPrivateTargets)),
    ...replaced('ADMINISTRATOR_PRIVATE_TARGETS', networksText(settings.administratorPrivateTargets)),
    ...replaced('PUBLIC_URL', settings.publicUrl),
    ...replaced('DATABASE_URL', urls.owner),
    ...replaced('DATABASE_API_URL', urls.api),
    ...replaced('DATABASE_WORKER_URL', urls.worker),
  };
}

/** The whole environment of a local agent. It gets no variable of the control plane, whose secrets are not its business. */
export function environmentOfAgent(
  env: Environment,
  settings: ControlPlaneSettings,
  agent: { readonly name: string; readonly stateDir: string; readonly joinToken?: string },
): Record<string, string> {
  return {
    ...compileCache(settings),
    ...inherited(env, (name) => !isControlPlaneVariable(name)),
    PARALLAX_PROBE_CONTROL_PLANE: enrolmentAddress(settings),
    PARALLAX_PROBE_NAME: agent.name,
    PARALLAX_PROBE_REGION: localRegion,
    PARALLAX_PROBE_STATE_DIR: agent.stateDir,
    PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: capOfAgent(env, settings),
    ...(env['PARALLAX_PROBE_LOG_LEVEL'] === undefined ? { PARALLAX_PROBE_LOG_LEVEL: settings.logLevel } : {}),
    ...(agent.joinToken === undefined ? {} : { PARALLAX_PROBE_JOIN_TOKEN: agent.joinToken }),
  };
}

/** What the control plane may allow at most. Ranges of single workspaces are known to nobody here, so the operator may name more. */
function capOfAgent(env: Environment, settings: ControlPlaneSettings): string {
  const { allowedPrivateTargets = [], administratorPrivateTargets = [] } = settings;
  const named = env['PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS'];
  if (named !== undefined && named !== '') return named;
  return networksText([...new Set([...allowedPrivateTargets, ...administratorPrivateTargets])]);
}

/** An empty value would count as unset. */
function networksText(networks: readonly string[] = []): string {
  return networks.length === 0 ? 'none' : networks.join(',');
}

/** Region of the agents beside the control plane. */
export const localRegion = 'local';

/** Where a process on this machine dials to enrol, `host:port`. */
export function enrolmentAddress({ grpcHost, enrolmentPort }: ControlPlaneSettings): string {
  const host = dialled(grpcHost);
  return `${host.includes(':') ? `[${host}]` : host}:${enrolmentPort}`;
}

/** An address that a process on this machine can dial for a listener. */
export function dialled(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}

/** Compiled code is kept between starts, unless whoever started this has a place for it already. */
function compileCache(settings: ControlPlaneSettings): Record<string, string> {
  return { NODE_COMPILE_CACHE: `${settings.dataDir}/compile-cache` };
}

/** Sets a variable and takes away the form with `_FILE`, since both together are an error. */
function replaced(key: keyof typeof controlPlaneSettings.settings, value: string | undefined): Record<string, string> {
  const name = controlPlaneSettings.prefix + key;
  return value === undefined ? {} : { [name]: value, [`${name}_FILE`]: '' };
}

function inherited(env: Environment, isKept: (name: string) => boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    // npm's own variables would make a child believe that npm started it.
    if (value !== undefined && !/^npm_/i.test(name) && isKept(name)) kept[name] = value;
  }
  return kept;
}

function isAgentVariable(name: string): boolean {
  return name.startsWith(agentSettings.prefix);
}

function isControlPlaneVariable(name: string): boolean {
  return name.startsWith(controlPlaneSettings.prefix) && !isAgentVariable(name);
}
