import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chooseDataFolder, findNatsServer } from '@parallax/embedded';
import { healthcheckOf, imageOf, startOrder } from './compose.ts';
import type { ComposeFile, ComposeService } from './compose.ts';
import { answersAsPostgres, startPostgresImage } from './compose-postgres.ts';
import { eventually, freePorts, root, runToEnd, startCommand } from './processes.ts';
import type { Started } from './processes.ts';

/** The services of docker-compose.yml as plain processes of this machine. */
export type RunningCompose = {
  /** As `docker compose up`: in order, one-shot services anew each time, others when they do not run. Gives what one-shots printed. */
  readonly up: () => Promise<Readonly<Record<string, string>>>;
  /** As `docker compose restart`: ends a service and starts it again, and waits until it is healthy. */
  readonly restart: (name: string) => Promise<void>;
  /** Where a port of a container is found here. */
  readonly address: (containerPort: number) => string;
  readonly volume: (name: string) => string;
  readonly output: (name: string) => string;
  readonly stop: () => Promise<void>;
};

/** The host that stands for each service, in place of its name on the networks. */
const hosts: Readonly<Record<string, string>> = {
  'control-plane': '127.0.0.21',
  nats: '127.0.0.22',
  postgres: '127.0.0.23',
};
/** Ports inside the containers, and whose they are; each stands for a free port here. */
const containerPorts: Readonly<Record<number, string>> = {
  8080: 'control-plane',
  9443: 'control-plane',
  9444: 'control-plane',
  4222: 'nats',
  8222: 'nats',
  5432: 'postgres',
};
/** What containers leave at its default because they are alone on their address, and processes of one machine cannot. */
const portSettings: Readonly<Record<string, number>> = {
  PARALLAX_HTTP_PORT: 8080,
  PARALLAX_GRPC_PORT: 9443,
  PARALLAX_ENROLMENT_PORT: 9444,
};
/** Programs of the images, and what stands for them. */
const programs: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath],
  // The executable is made from this.
  'probe-agent': [process.execPath, path.join(root, 'probe-agent/src/main.ts')],
};

/** @param more variables for services beside those of the file, by service */
export async function runCompose(
  compose: ComposeFile,
  more: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<RunningCompose> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-compose-'));
  // The account that PostgreSQL runs as must be able to pass.
  chmodSync(folder, 0o711);
  const ports = await mappedPorts();
  const running = new Map<string, { readonly stop: () => Promise<unknown>; readonly output: () => string }>();

  const volume = (name: string): string => {
    if (!(name in compose.volumes)) throw new Error(`${name} is no volume`);
    const place = path.join(folder, name);
    mkdirSync(place, { recursive: true, mode: 0o711 });
    return place;
  };
  const serviceNamed = (name: string): ComposeService => {
    const found = compose.services[name];
    if (found === undefined) throw new Error(`${name} is no service`);
    return found;
  };
  const address = (containerPort: number): string =>
    `${hosts[containerPorts[containerPort] ?? '']}:${ports.get(containerPort)}`;

  /** A text of a container as it reads here: folders of volumes and of the image, names and ports on the network. */
  const here = (text: string, name: string): string => {
    const mounts = serviceNamed(name).volumes.map((mount) => mount.split(':'));
    let result = text.replace(/^\/app(?=\/)/, root);
    for (const [source = '', target = ''] of mounts) {
      if (text === target || text.startsWith(`${target}/`)) result = volume(source) + text.slice(target.length);
    }
    return result.replaceAll(/(?<![\w.])(?:[a-z-]+|0\.0\.0\.0|127\.0\.0\.1):(\d+)\b/g, (found, port: string) =>
      ports.has(Number(port)) ? address(Number(port)) : found,
    );
  };
  const environmentOf = (name: string): Record<string, string> => {
    const service = serviceNamed(name);
    const image = imageOf(service)?.environment ?? {};
    const given = Object.entries({ ...image, ...service.environment }).map(([key, value]) => [key, here(value, name)]);
    const defaults = name === 'control-plane' ? Object.entries(portSettings) : [];
    return {
      ...Object.fromEntries(given),
      ...Object.fromEntries(defaults.map(([key, port]) => [key, String(ports.get(port))])),
      ...more[name],
    };
  };
  const startProgram = (words: readonly string[], name: string): Started => {
    const [program = '', ...rest] = words;
    const [command = '', ...before] = program === 'nats-server' ? [natsServer()] : (programs[program] ?? []);
    if (command === '') throw new Error(`nothing here stands for the program ${program} of ${name}`);
    return startCommand(command, [...before, ...rest.map((word) => here(word, name))], environmentOf(name));
  };
  const wordsOf = (name: string): readonly string[] => {
    const service = serviceNamed(name);
    const image = imageOf(service);
    return [...(image?.entrypoint ?? []), ...(service.command ?? image?.command ?? [])];
  };

  const start = async (name: string): Promise<void> => {
    if (name === 'postgres') {
      const environment = environmentOf(name);
      const postgres = await startPostgresImage({
        volume: volume('postgres'),
        host: hosts['postgres'] ?? '',
        port: ports.get(5432) ?? 0,
        user: environment['POSTGRES_USER'] ?? '',
        password: readFileSync(environment['POSTGRES_PASSWORD_FILE'] ?? '', 'utf8'),
        database: environment['POSTGRES_DB'] ?? '',
      });
      running.set(name, { stop: postgres.stop, output: () => '' });
    } else {
      const started = startProgram(wordsOf(name), name);
      running.set(name, started);
      void started.ended.finally(() => {
        if (running.get(name) === started) running.delete(name);
      });
    }
  };
  const isHealthy = async (name: string, check: readonly string[]): Promise<boolean> => {
    if (check[0] === 'pg_isready') return answersAsPostgres(hosts['postgres'] ?? '', ports.get(5432) ?? 0);
    // The image has wget; what it asks for is asked for here.
    if (check[0] === 'wget') return (await fetch(here(check.at(-1) ?? '', name))).ok;
    return (await startProgram(check, name).ended) === 0;
  };
  const untilHealthy = async (name: string): Promise<void> => {
    const check = healthcheckOf(serviceNamed(name));
    if (check === undefined) return;
    const process = running.get(name);
    await eventually(
      `${name} to be healthy`,
      async () => {
        if (running.get(name) === undefined) throw new Error(`${name} ended:\n${process?.output().slice(-3_000)}`);
        return isHealthy(name, check);
      },
      { timeoutMs: 120_000, everyMs: 250 },
    );
  };
  const runOnce = (name: string): Promise<string> => runToEnd(startProgram(wordsOf(name), name), name, 120_000);
  const isOneShot = (name: string): boolean => serviceNamed(name).restart === 'no';

  return {
    up: async () => {
      const printed: Record<string, string> = {};
      const order = startOrder(compose);
      for (const name of order) {
        for (const [needed, { condition }] of Object.entries(serviceNamed(name).depends_on))
          if (condition === 'service_healthy') await untilHealthy(needed);
        if (isOneShot(name)) printed[name] = await runOnce(name);
        else if (!running.has(name)) await start(name);
      }
      await Promise.all(order.filter((name) => !isOneShot(name)).map(untilHealthy));
      return printed;
    },
    restart: async (name) => {
      await running.get(name)?.stop();
      running.delete(name);
      await start(name);
      await untilHealthy(name);
    },
    address,
    volume,
    output: (name) => running.get(name)?.output() ?? '',
    stop: async () => {
      const { postgres, ...others } = Object.fromEntries(running);
      await Promise.all(Object.values(others).map((each) => each.stop()));
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function mappedPorts(): Promise<ReadonlyMap<number, number>> {
  const inside = Object.keys(containerPorts).map(Number);
  const free = await freePorts(inside.length);
  return new Map(inside.map((port, index) => [port, free[index] ?? 0]));
}

function natsServer(): string {
  const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout: root });
  const found = findNatsServer(process.env, { dataDir });
  if (found === undefined) throw new Error('nats-server is not installed');
  return found.path;
}
