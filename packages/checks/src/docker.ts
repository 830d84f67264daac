import type { CheckContext, CheckResult, CheckType, Target } from './check.ts';
import { type Container, detailsOf, judgeContainer, readContainer } from './docker/container.ts';
import { type DockerSettings, dockerSettings } from './docker/settings.ts';
import { askSocket } from './docker/socket.ts';
import { type Daemon, readDaemon } from './docker/target.ts';
import { ask } from './http/ask.ts';
import { decodeBody, headerOf } from './http/body.ts';
import { outcomeOf, type Progress } from './http/outcome.ts';
import { writeRequest } from './http/request.ts';
import { defaultLimits, type ResponseHead, ResponseParser } from './http/response-parser.ts';
import { type Failure, failed, probeFault } from './net/failure.ts';
import { printable } from './net/lines.ts';

/** A container by the Engine API. Nothing but one GET is ever sent. */
export const docker = {
  type: 'docker',
  summary: 'A container of Docker: its state, health, restarts and uptime',
  reference: {
    targets: ['https://docker.example.com:2376', 'unix:///var/run/docker.sock'],
    settings: { container: 'web' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      socket: 'The socket that was asked.',
      container: 'The container as the settings name it.',
      state: 'Its state: created, running, paused, restarting, removing, exited or dead.',
      health: 'What its own health check says: healthy, unhealthy or starting; none where it has no such check.',
      failing_streak: 'Health checks that failed in a row.',
      exit_code: 'Exit code of the last end.',
      out_of_memory: 'It was ended for want of memory; absent otherwise.',
      error: 'What the daemon says of a start that failed.',
      restarts: 'How often its restart policy has started it again.',
      started_at: 'When it was started.',
      uptime_seconds: 'Seconds that it has run since then, by the clock of the daemon.',
      image: 'Its image.',
      id: 'The first twelve digits of its identifier.',
      api_version: 'Version of the Engine API that answered.',
      server: 'What the daemon says that it is.',
    },
  },
  settings: dockerSettings,
  secretFields: ['client_key'],
  requires: [],
  // Only a socket is something that the machine of a probe has; a daemon on the network is reached like any server.
  requiresFor: (target) => (/^\s*unix:/i.test(target.url) ? ['docker'] : []),
  cheap: true,
  validateTarget: (target, settings) => {
    const daemon = readDaemon(target);
    if (typeof daemon === 'string') return daemon;
    if (settings.container === undefined) return 'The setting container is needed: the name of the container.';
    const isSecure = daemon.kind === 'network' && daemon.origin.protocol === 'https:';
    if (settings.client_certificate !== undefined && !isSecure)
      return 'A client certificate is shown over TLS only; write https://host:2376.';
    return undefined;
  },
  addressOf: (target) => {
    const daemon = readDaemon(target);
    if (typeof daemon === 'string') return daemon;
    if (daemon.kind === 'socket') return 'A socket of the probe has no address.';
    const { hostname, port, protocol } = daemon.origin;
    const isSecure = protocol === 'https:';
    // URL leaves out a port that is usual for the web.
    return { host: hostname, port: Number(port || (isSecure ? 443 : 80)), tls: isSecure ? 'implicit' : 'none' };
  },
  run,
} satisfies CheckType<'docker', ReturnType<typeof dockerSettings>>;

/** What came of asking. */
type Found = { readonly failure: Failure | undefined; readonly container?: Container };

async function run(target: Target, settings: DockerSettings, context: CheckContext): Promise<CheckResult> {
  const daemon = readDaemon(target);
  if (typeof daemon === 'string') throw new Error(`The target was not validated: ${daemon}`);
  const version = settings.api_version === undefined ? '' : `/v${settings.api_version}`;
  const path = `${version}/containers/${encodeURIComponent(settings.container ?? '')}/json`;
  const url = new URL(path, daemon.kind === 'socket' ? 'http://docker' : daemon.origin);
  const progress: Progress = { startedAt: context.clock(), phases: {}, redirects: 0, url, obtained: [] };
  const { failure, container } = await inspect(daemon, settings, context, progress);
  // The body describes the whole container, its environment included: it is no evidence.
  progress.parser = undefined;
  const details = {
    ...(daemon.kind === 'socket' && { socket: daemon.path }),
    ...(settings.container !== undefined && { container: settings.container }),
    ...(container !== undefined && detailsOf(container, daemonTime(progress.head, context))),
    ...versionsOf(progress.head),
  };
  const engine = /^Docker\/([\w.+-]{1,50})/.exec((progress.head && headerOf(progress.head, 'server')) ?? '')?.[1];
  const more = { evidence: { details }, facts: { details, ...(engine !== undefined && { version: engine }) } };
  return outcomeOf(progress, failure, { ...settings, secret_headers: {} }, context, more);
}

async function inspect(
  daemon: Daemon,
  settings: DockerSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Found> {
  if (daemon.kind === 'socket' && context.dockerSockets?.includes(daemon.path) !== true)
    return { failure: notAllowed(daemon.path) };
  const own = { headers: { Accept: 'application/json' }, secret_headers: {} };
  const hop = { url: progress.url, method: 'GET', trusted: true, withBody: false } as const;
  const request = writeRequest(hop, own, context.userAgent);
  const parser = new ResponseParser('GET');
  parser.keepBytes = defaultLimits.maxBodyBytes;
  const failure =
    daemon.kind === 'socket'
      ? await askSocket(daemon.path, request, parser, context, progress)
      : await ask(true, request, parser, settings, context, progress);
  if (failure !== undefined) return { failure };
  const found = judge(parser, settings, context);
  if (found.container !== undefined)
    context.trace?.('container', `${found.container.state}, health ${found.container.health}`);
  return found;
}

function judge(parser: ResponseParser, settings: DockerSettings, context: CheckContext): Found {
  const { head } = parser;
  if (head === undefined) return { failure: failed('http_protocol', 'The server did not answer with HTTP.') };
  const body = decodeBody(head, parser.body);
  if (parser.truncated || (!body.ok && body.problem === 'too_large'))
    return {
      failure: failed('http_too_large', 'The answer of the daemon is too large to be the description of a container.'),
    };
  if (!body.ok) return { failure: failed('http_protocol', 'The body of the answer cannot be decoded.') };
  const text = body.bytes.toString('utf8');
  const json = jsonOf(text);
  if (head.status !== 200) return { failure: refusalOf(head, json, text, settings) };
  const container = readContainer(json);
  if (container === undefined)
    return {
      failure: failed('http_json', 'The answer is not the description of a container: nobody from Docker spoke.'),
    };
  return { container, failure: judgeContainer(container, settings, daemonTime(head, context)) };
}

/**
 * What the daemon said instead. It answers 404 for a container that it does not have, and for a path that it does not know, which are told
 * apart by its message only.
 */
function refusalOf(head: ResponseHead, json: unknown, text: string, settings: DockerSettings): Failure {
  const message = typeof json === 'object' && json !== null && 'message' in json ? json.message : undefined;
  const said = printable((typeof message === 'string' ? message : text).slice(0, 2000), 300);
  if (head.status === 404 && /no such container/i.test(said))
    return failed('container_missing', `Docker has no container ${settings.container ?? ''}.`);
  const because = said === '' ? '' : `: ${said.replace(/\.$/, '')}`;
  return failed('http_status', `Docker answered ${head.status}${because}.`);
}

/** The time that the daemon says in its answer, so that a clock that goes wrong there or here does not matter; else this machine's. */
function daemonTime(head: ResponseHead | undefined, context: CheckContext): number {
  const said = Date.parse((head && headerOf(head, 'date')) ?? '');
  return Number.isFinite(said) ? said : (context.wallClock ?? Date.now)();
}

function versionsOf(head: ResponseHead | undefined): Record<string, string> {
  const api = head && headerOf(head, 'api-version');
  const server = head && headerOf(head, 'server');
  return {
    ...(api !== undefined && { api_version: printable(api, 50) }),
    ...(server !== undefined && { server: printable(server, 100) }),
  };
}

function notAllowed(path: string): Failure {
  return probeFault(
    'probe_capability',
    `The operator of this probe does not let checks ask the socket ${path}; PARALLAX_PROBE_DOCKER_SOCKETS names those that may be.`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
