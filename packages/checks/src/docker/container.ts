import { type Failure, failed } from '../net/failure.ts';
import { printable } from '../net/lines.ts';
import type { DockerSettings } from './settings.ts';

/** What is looked at of the description of a container. Texts are fit to be shown; numbers are whole. */
export type Container = {
  readonly id: string | undefined;
  readonly image: string | undefined;
  readonly state: string;
  /** `none` where the image has no health check. */
  readonly health: string;
  readonly failingStreak: number | undefined;
  readonly exitCode: number | undefined;
  readonly isOutOfMemory: boolean;
  /** What the daemon says about a start that failed. */
  readonly error: string | undefined;
  readonly restarts: number | undefined;
  /** Milliseconds since 1970; undefined for one that never ran. */
  readonly startedMs: number | undefined;
};

/**
 * Reads the answer to `GET /containers/{id}/json` (Docker Engine API, ContainerInspect). Undefined for what is none. The environment,
 * labels, mounts and outputs of health checks that stand there too may hold secrets of the container and are never taken.
 */
export function readContainer(json: unknown): Container | undefined {
  const all = record(json);
  const state = record(all?.['State']);
  const status = text(state?.['Status']);
  if (all === undefined || state === undefined || status === undefined) return undefined;
  const health = record(state['Health']);
  const started = Date.parse(text(state['StartedAt']) ?? '');
  return {
    id: text(all['Id'])?.slice(0, 12),
    image: text(record(all['Config'])?.['Image']),
    state: status,
    health: text(health?.['Status']) ?? 'none',
    failingStreak: whole(health?.['FailingStreak']),
    exitCode: whole(state['ExitCode']),
    isOutOfMemory: state['OOMKilled'] === true,
    error: text(state['Error']),
    restarts: whole(all['RestartCount']),
    // The zero time of Go stands for never.
    startedMs: started > 0 ? started : undefined,
  };
}

/** Milliseconds that it has run since its last start; undefined when it does not run. */
export function uptimeMs(container: Container, nowMs: number): number | undefined {
  const runs = container.state === 'running' || container.state === 'paused';
  return runs && container.startedMs !== undefined ? Math.max(0, nowMs - container.startedMs) : undefined;
}

/** Judges a container by the settings: its state, its health, its restarts. @param nowMs the daemon's own time */
export function judgeContainer(
  container: Container,
  settings: Pick<
    DockerSettings,
    'container' | 'expected_state' | 'expected_health' | 'min_uptime_seconds' | 'max_restarts'
  >,
  nowMs: number,
): Failure | undefined {
  const { expected_state: state, expected_health: health, min_uptime_seconds: least, max_restarts: most } = settings;
  const name = `The container ${settings.container ?? ''}`;
  if (container.state !== state)
    return failed('container_not_running', `${name} is ${saidOf(container)}; expected is ${state}.`);
  // One that has ended keeps the last word of its health check.
  const isAlive = container.state === 'running' || container.state === 'paused';
  if (isAlive && health !== 'any' && container.health === 'unhealthy') {
    const streak = container.failingStreak === undefined ? '' : ` (${container.failingStreak} failures in a row)`;
    return failed('container_unhealthy', `${name} is unhealthy by its own health check${streak}.`);
  }
  if (health === 'healthy' && container.health !== 'healthy') {
    const why =
      container.health === 'none' ? 'has no health check' : `is "${container.health}" by its own health check`;
    return failed('container_unhealthy', `${name} ${why}; expected is healthy.`);
  }
  if (most !== undefined && (container.restarts ?? 0) > most)
    return failed(
      'container_restarted',
      `${name} was restarted ${container.restarts} times; at most ${most} are taken.`,
    );
  if (least === undefined) return undefined;
  const ranMs = uptimeMs(container, nowMs);
  if (ranMs !== undefined && ranMs >= least * 1000) return undefined;
  const since = ranMs === undefined ? 'does not run' : `has run for ${Math.floor(ranMs / 1000)} s`;
  return failed('container_restarted', `${name} ${since}; expected are at least ${least} s.`);
}

/** The facts that are kept beside a result. */
export function detailsOf(container: Container, nowMs: number): Record<string, string | number | boolean> {
  const ranMs = uptimeMs(container, nowMs);
  const { id, image, exitCode, failingStreak, error, restarts, startedMs } = container;
  return {
    state: container.state,
    health: container.health,
    ...(failingStreak !== undefined && container.health !== 'none' && { failing_streak: failingStreak }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(container.isOutOfMemory && { out_of_memory: true }),
    ...(error !== undefined && { error }),
    ...(restarts !== undefined && { restarts }),
    ...(startedMs !== undefined && { started_at: new Date(startedMs).toISOString() }),
    ...(ranMs !== undefined && { uptime_seconds: Math.floor(ranMs / 1000) }),
    ...(image !== undefined && { image }),
    ...(id !== undefined && { id }),
  };
}

function saidOf({ state, exitCode, isOutOfMemory, error }: Container): string {
  const ended = state === 'exited' || state === 'dead' || state === 'restarting';
  const code = ended && exitCode !== undefined ? ` with exit code ${exitCode}` : '';
  const memory = isOutOfMemory ? ', for want of memory' : '';
  return `${state}${code}${memory}${error === undefined ? '' : ` (${error})`}`;
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const line = printable(value.slice(0, 1000), 200);
  return line === '' ? undefined : line;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
