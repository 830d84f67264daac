import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { moduleText } from '../harness/module-text.ts';
import type { Mutant } from './mutants.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const agent = 'probe-agent/src';
const ingest = 'control-plane/src/monitoring/check-results/ingest';
const sessions = 'control-plane/src/monitoring/probes/sessions';
const central = 'control-plane/src/monitoring/central-checks';

/** In `importer` (a file or a folder), what is called `specifier` is taken from a stand-in. */
type Redirect = { readonly importer: string; readonly specifier: string; readonly standIn: string };

/**
 * Where the product does I/O, or asks the machine. Everything else of it runs as it is. What stands in for something has its names and its
 * behaviour as far as the product can see it.
 */
const redirects: readonly Redirect[] = [
  // Files of the agent: its log, what it knows of acknowledgements, its assignments.
  { importer: `${agent}/`, specifier: 'node:fs/promises', standIn: 'file-system' },
  { importer: `${agent}/`, specifier: 'node:crypto', standIn: 'chance' },
  { importer: `${agent}/`, specifier: './machine/moments.ts', standIn: 'moments' },
  // Its session with the control plane.
  { importer: `${agent}/session/session.ts`, specifier: '@parallax/wire', standIn: 'session-client' },
  { importer: `${agent}/session/session.ts`, specifier: './channel.ts', standIn: 'channel' },
  { importer: `${agent}/agent.ts`, specifier: './enrolment/certificate-keeper.ts', standIn: 'certificates' },
  { importer: `${agent}/agent.ts`, specifier: '@parallax/pki', standIn: 'signatures' },
  { importer: `${agent}/results/`, specifier: '@parallax/pki', standIn: 'signatures' },
  { importer: 'test/simulation/world/', specifier: '@parallax/pki', standIn: 'signatures' },
  { importer: `${agent}/own-uplink.ts`, specifier: '@parallax/checks', standIn: 'uplink-parts' },
  // The broker, for both sides.
  { importer: `${agent}/`, specifier: '@nats-io/transport-node', standIn: 'nats-transport' },
  { importer: `${agent}/`, specifier: '@nats-io/jetstream', standIn: 'nats-jetstream' },
  { importer: 'control-plane/src/platform/bus/', specifier: '@nats-io/transport-node', standIn: 'nats-transport' },
  { importer: 'control-plane/src/platform/bus/', specifier: '@nats-io/jetstream', standIn: 'nats-jetstream' },
  { importer: `${ingest}/`, specifier: '@nats-io/transport-node', standIn: 'nats-transport' },
  { importer: `${ingest}/`, specifier: '@nats-io/jetstream', standIn: 'nats-jetstream' },
  // The ingest and its database.
  { importer: `${ingest}/admit.ts`, specifier: '@parallax/pki', standIn: 'signatures' },
  { importer: `${ingest}/owner-rounds.ts`, specifier: 'node:timers/promises', standIn: 'turns' },
  { importer: `${ingest}/fold-round.ts`, specifier: 'node:timers/promises', standIn: 'turns' },
  { importer: `${ingest}/owner-rounds.ts`, specifier: './write.ts', standIn: 'ingest-writes' },
  { importer: `${ingest}/round-commits.ts`, specifier: './write.ts', standIn: 'ingest-writes' },
  { importer: `${ingest}/owner.ts`, specifier: './partitions.ts', standIn: 'ingest-partitions' },
  { importer: `${ingest}/fold-round.ts`, specifier: './windows/queries.ts', standIn: 'ingest-windows' },
  { importer: `${ingest}/configuration.ts`, specifier: './windows/queries.ts', standIn: 'ingest-windows' },
  { importer: `${ingest}/configuration.ts`, specifier: './queries.ts', standIn: 'ingest-queries' },
  // The sessions of probes and their database.
  { importer: `${sessions}/gateway.ts`, specifier: './queries.ts', standIn: 'session-queries' },
  { importer: `${sessions}/job.ts`, specifier: './queries.ts', standIn: 'session-queries' },
  { importer: `${sessions}/gateway.ts`, specifier: './identity.ts', standIn: 'session-identity' },
  { importer: `${sessions}/gateway.ts`, specifier: '../restored/queries.ts', standIn: 'session-restored' },
  { importer: `${sessions}/gateway.ts`, specifier: '../../assignments/index.ts', standIn: 'session-assignments' },
  // The control plane's own checks.
  { importer: `${central}/job.ts`, specifier: './queries.ts', standIn: 'central-queries' },
];

const standInUrl = (name: string): string =>
  pathToFileURL(path.join(root, 'test/simulation/stand-ins', `${name}.ts`)).href;

/**
 * From now on the product is loaded with its stand-ins. To be called before any of it is imported.
 * @param options.mutants changes of single files, for tests of the simulation itself
 * @param options.isSigned batches are signed with Ed25519, as they are in truth
 */
export function loadWithStandIns(options: { readonly mutants: readonly Mutant[]; readonly isSigned: boolean }): void {
  const wanted = redirects.filter(({ standIn }) => !(options.isSigned && standIn === 'signatures'));
  registerHooks({
    resolve: (specifier, context, next) => {
      const importer = pathOf(context.parentURL);
      const found = wanted.find(
        (each) =>
          each.specifier === specifier &&
          (each.importer.endsWith('/') ? importer.startsWith(each.importer) : importer === each.importer),
      );
      return found === undefined ? next(specifier, context) : next(standInUrl(found.standIn), context);
    },
    load: (url, context, next) => {
      const loaded = next(url, context);
      const own = options.mutants.filter(({ file }) => file === pathOf(url));
      return own.length === 0 ? loaded : { ...loaded, source: own.reduce(changed, moduleText(loaded.source)) };
    },
  });
}

function changed(source: string, { file, from, to }: Mutant): string {
  if (!source.includes(from)) throw new Error(`${file} does not say: ${from}`);
  return source.replace(from, to);
}

/** Of a module of the project, from its root; empty for others. */
function pathOf(url: string | undefined): string {
  if (url === undefined || !url.startsWith('file:')) return '';
  const relative = path.relative(root, fileURLToPath(url));
  return relative.startsWith('..') ? '' : relative.split(path.sep).join('/');
}
