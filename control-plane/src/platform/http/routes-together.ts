import type { RouteContract } from '@parallax/api-contract';
import type { z } from 'zod';

/** What a route is by the others: which reads what it changes, where what it makes is found, and how it is called. */
export class Routes {
  readonly #readers: ReadonlyMap<string, RouteContract>;
  readonly #ids: ReadonlyMap<RouteContract, string>;

  /** @throws Error when two routes would be called the same */
  constructor(contracts: readonly RouteContract[]) {
    const readers = contracts.filter(({ method }) => method === 'GET');
    this.#readers = new Map(readers.map((contract) => [contract.path, contract]));
    this.#ids = idsOf(contracts);
  }

  /** The route that reads what is at the same path. */
  readerOf(contract: RouteContract): RouteContract | undefined {
    return this.#readers.get(contract.path);
  }

  /** Where a new resource is read, as a path up to its identifier; undefined when no route reads it. */
  locationOf(contract: RouteContract): string | undefined {
    if (contract.method !== 'POST' || contract.success.status !== 201) return undefined;
    if (fieldOf(contract, 'id') === undefined || contract.path.includes(':')) return undefined;
    const prefix = `${contract.path}/:`;
    const isRead = [...this.#readers.keys()].some(
      (path) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'),
    );
    return isRead ? `${contract.path}/` : undefined;
  }

  /** The name by which clients call it. */
  idOf(contract: RouteContract): string {
    return this.#ids.get(contract) ?? '';
  }
}

/** Whether the answer is a resource with a version, which is its ETag. */
export function hasVersion(contract: RouteContract): boolean {
  return fieldOf(contract, 'version')?.def.type === 'number';
}

function fieldOf({ success: { answer } }: RouteContract, name: string): z.ZodType | undefined {
  const def = answer?.def as { readonly shape?: Readonly<Record<string, z.ZodType>> } | undefined;
  return def?.shape?.[name];
}

/** A page has the name of the API's route with its path, and the root before it. */
function idsOf(contracts: readonly RouteContract[]): ReadonlyMap<RouteContract, string> {
  const ofApi = new Set(contracts.filter(isOfApi).map(plainId));
  const ids = new Map(
    contracts.map((contract) => {
      const id = plainId(contract);
      return [contract, !isOfApi(contract) && ofApi.has(id) ? `${id}_at_root` : id] as const;
    }),
  );
  const seen = new Set<string>();
  for (const id of ids.values()) {
    if (seen.has(id)) throw new Error(`two operations are called ${id}`);
    seen.add(id);
  }
  return ids;
}

function isOfApi({ path }: RouteContract): boolean {
  return path.startsWith('/api/v1/');
}

function plainId({ method, path }: RouteContract): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replace(/^:/, 'by_').replaceAll('-', '_'));
  return [method.toLowerCase(), ...words].join('_');
}
