import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from './processes.ts';

/** The file that `docker compose up` reads. */
export const composePath = path.join(root, 'docker-compose.yml');

const condition = z.enum(['service_healthy', 'service_completed_successfully', 'service_started']);
const healthcheck = z.union([
  z.object({ disable: z.literal(true) }),
  z.object({ test: z.array(z.string()).min(2) }).loose(),
]);

// Strict: a key that is not known here has no rule and is not run, so it has to be thought of first.
const service = z.strictObject({
  image: z.string(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  user: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  network_mode: z.string().optional(),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition })).default({}),
  healthcheck: healthcheck.optional(),
  restart: z.string(),
  read_only: z.boolean(),
  tmpfs: z.array(z.string()),
  cap_drop: z.array(z.string()),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()),
  init: z.boolean(),
  pids_limit: z.number(),
  mem_limit: z.string(),
  shm_size: z.string().optional(),
  stop_grace_period: z.string().optional(),
  logging: z.object({ driver: z.string(), options: z.record(z.string(), z.string()) }),
});

const composeFile = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.union([z.null(), z.object({ internal: z.boolean() })])),
  volumes: z.record(z.string(), z.null()),
});

export type ComposeService = z.infer<typeof service>;
export type ComposeFile = z.infer<typeof composeFile>;

/** Reads the file as Compose does, its anchors and merges resolved. */
export function readCompose(text = readFileSync(composePath, 'utf8')): ComposeFile {
  return composeFile.parse(parse(text, { merge: true }));
}

/** What the last stage of a Dockerfile says, and what every stage is made from. */
export type ImageFile = {
  readonly bases: readonly string[];
  readonly user: string | undefined;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** What every stage takes from the source tree. */
  readonly sources: readonly string[];
  readonly instructions: readonly (readonly [name: string, rest: string])[];
};

/** @param file from the top of the source tree */
export function readImageFile(file: string): ImageFile {
  const instructions = readFileSync(path.join(root, file), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return [name, rest] as const;
    });
  const all = (name: string) => instructions.filter((each) => each[0] === name).map((each) => each[1]);
  const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
  const one = (name: string) => last.findLast((each) => each[0] === name)?.[1];
  const list = (text: string | undefined) => (text === undefined ? [] : z.array(z.string()).parse(JSON.parse(text)));
  const pairs = (name: string) =>
    Object.fromEntries(
      last
        .filter((each) => each[0] === name)
        .flatMap(([, rest]) => [...rest.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)])
        .map(([, key = '', quoted, plain]) => [key, quoted ?? plain ?? '']),
    );
  const health = one('HEALTHCHECK');
  return {
    bases: all('FROM'),
    user: one('USER'),
    entrypoint: list(one('ENTRYPOINT')),
    command: list(one('CMD')),
    healthcheck: health === undefined ? undefined : list(/CMD (\[.*)$/.exec(health)?.[1]),
    environment: pairs('ENV'),
    labels: pairs('LABEL'),
    sources: all('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(/\s+/).slice(0, -1)),
    instructions,
  };
}

/** The image of a service, when its Dockerfile is ours. */
export function imageOf(service: ComposeService): ImageFile | undefined {
  return service.build === undefined ? undefined : readImageFile(service.build.dockerfile);
}

/** What decides whether a service is healthy, without the leading CMD; its own, else that of its image. */
export function healthcheckOf(service: ComposeService): readonly string[] | undefined {
  if (service.healthcheck === undefined) return imageOf(service)?.healthcheck;
  return 'test' in service.healthcheck ? service.healthcheck.test.slice(1) : undefined;
}

/** Services in an order in which each comes after all that it waits for. */
export function startOrder(compose: ComposeFile): readonly string[] {
  const order: string[] = [];
  const visit = (name: string, above: readonly string[]): void => {
    if (order.includes(name)) return;
    if (above.includes(name)) throw new Error([...above, name].join(' waits for '));
    const found = compose.services[name];
    if (found === undefined) throw new Error(`${above.at(-1)} waits for ${name}, which is no service`);
    for (const needed of Object.keys(found.depends_on)) visit(needed, [...above, name]);
    order.push(name);
  };
  for (const name of Object.keys(compose.services)) visit(name, []);
  return order;
}
