import { invalidInput, Problem } from '@parallax/api-contract';
import type {
  InputError,
  InputPath,
  Maintenance,
  MaintenanceScopeInput,
  MaintenanceSubjectType,
} from '@parallax/api-contract';

/** What a maintenance covers, as it is stored. */
export type Covered = {
  readonly all: boolean;
  readonly monitorIds: readonly number[];
  readonly heartbeatIds: readonly number[];
  readonly webhookCheckIds: readonly number[];
  readonly groupIds: readonly number[];
  readonly tags: readonly string[];
};

/** What a request names, with the place of each in it. */
export type NamedScope = Covered & { readonly places: ReadonlyMap<string, Pick<InputError, 'in' | 'path'>> };

/** Keys of `places`. */
export const placeOfSubject = (type: MaintenanceSubjectType, id: number): string =>
  `${type.replaceAll('_', ' ')} ${id}`;
export const placeOfGroup = (id: number): string => `group ${id}`;

/** Whether a scope covers nothing and never will: what it named is gone. A group without members and a tag may cover something again. */
export function isEmptyScope(scope: Covered): boolean {
  const { all, monitorIds, heartbeatIds, webhookCheckIds, groupIds, tags } = scope;
  return !all && [monitorIds, heartbeatIds, webhookCheckIds, groupIds, tags].every((list) => list.length === 0);
}

/** Whether two scopes name the same. */
export function sameCovered(one: Covered, other: Covered): boolean {
  const sorted = (ids: readonly number[]) => [...new Set(ids)].toSorted((a, b) => a - b);
  const plain = ({ all, monitorIds, heartbeatIds, webhookCheckIds, groupIds, tags }: Covered) =>
    JSON.stringify([
      all,
      sorted(monitorIds),
      sorted(heartbeatIds),
      sorted(webhookCheckIds),
      sorted(groupIds),
      [...tags].toSorted(),
    ]);
  return plain(one) === plain(other);
}

/** A scope as it is answered, as it is stored. */
export function coveredOfAnswer(scope: Maintenance['scope']): Covered {
  const idsOf = (type: MaintenanceSubjectType) =>
    scope.subjects.filter((subject) => subject.type === type).map(({ id }) => id);
  return {
    all: scope.all,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: scope.group_ids,
    tags: scope.tags,
  };
}

/**
 * Reads the scope of a body.
 * @param before what is changed: where its scope has become empty, the same may be sent again
 * @throws Problem `invalid_input` when it covers nothing, or everything and something
 */
export function scopeOfBody(given: MaintenanceScopeInput, before?: Covered): NamedScope {
  const places = new Map<string, Pick<InputError, 'in' | 'path'>>();
  const note = (key: string, path: InputPath): void => {
    if (!places.has(key)) places.set(key, { in: 'body', path });
  };
  for (const [index, { type, id }] of (given.subjects ?? []).entries())
    note(placeOfSubject(type, id), `/scope/subjects/${index}/id`);
  for (const [index, id] of (given.group_ids ?? []).entries()) note(placeOfGroup(id), `/scope/group_ids/${index}`);
  const idsOf = (type: MaintenanceSubjectType): number[] => [
    ...new Set((given.subjects ?? []).filter((one) => one.type === type).map(({ id }) => id)),
  ];
  const scope = {
    all: given.all ?? false,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: [...new Set(given.group_ids ?? [])],
    tags: [...(given.tags ?? [])],
  };
  const isAsBefore = before !== undefined && isEmptyScope(before) && isEmptyScope(scope);
  if (!isAsBefore) requireScope(scope, { in: 'body', path: '/scope' });
  return { ...scope, places };
}

/** The same for a query, whose parameters may stand once or many times. */
export function scopeOfQuery(query: {
  readonly all: boolean;
  readonly monitor_ids?: number | readonly number[] | undefined;
  readonly group_ids?: number | readonly number[] | undefined;
  readonly tags?: string | readonly string[] | undefined;
}): NamedScope {
  const list = <Value>(given: Value | readonly Value[] | undefined): Value[] => [
    ...new Set(given === undefined ? [] : ([given].flat() as Value[])),
  ];
  const scope = {
    all: query.all,
    monitorIds: list(query.monitor_ids),
    heartbeatIds: [],
    webhookCheckIds: [],
    groupIds: list(query.group_ids),
    tags: list(query.tags),
  };
  requireScope(scope, { in: 'query', path: '/all' });
  const places = new Map<string, Pick<InputError, 'in' | 'path'>>([
    ...scope.monitorIds.map((id) => [placeOfSubject('monitor', id), { in: 'query', path: '/monitor_ids' }] as const),
    ...scope.groupIds.map((id) => [placeOfGroup(id), { in: 'query', path: '/group_ids' }] as const),
  ]);
  return { ...scope, places };
}

function requireScope(scope: Covered, place: Pick<InputError, 'in' | 'path'>): void {
  const { monitorIds, heartbeatIds, webhookCheckIds, groupIds, tags } = scope;
  const named = [monitorIds, heartbeatIds, webhookCheckIds, groupIds, tags].flat().length;
  if (scope.all && named > 0)
    throw invalidInput(place.in, place.path, 'scope_contradicts', 'give either all or lists, not both');
  if (isEmptyScope(scope))
    throw invalidInput(
      place.in,
      place.path,
      'scope_is_empty',
      'name a subject, a group or a tag at least, or give all',
    );
}

/**
 * Judges which of the named subjects and groups are there.
 * @param missing keys of those that are not
 * @throws Problem `not_found` that names each one by its place
 */
export function requireFound(workspaceId: number, scope: NamedScope, missing: readonly string[]): void {
  const errors = missing.map(
    (key): InputError => ({
      ...(scope.places.get(key) ?? { in: 'body', path: '/scope' }),
      code: 'not_found',
      message: `there is no ${key} in workspace ${workspaceId}`,
    }),
  );
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new Problem('not_found', `${first.message}${more}`, { errors: errors.slice(0, 100) });
}
