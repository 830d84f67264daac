import { monitorSorts, statusFilters } from '@parallax/api-contract';
import type { MonitorFilter } from '../../../control-plane/src/monitoring/monitors/list/queries.ts';

/** One way to ask for the list: as a query of the API, and as the statement takes it. */
export type Variant = { readonly name: string; readonly query: string; readonly filter: MonitorFilter };

/** Every sort in both orders, and every filter, each by itself. */
export function variantsOf(groupId: number): readonly Variant[] {
  const sorts = monitorSorts.flatMap((sort) => (['asc', 'desc'] as const).map((order) => ({ sort, order })));
  const filters: readonly Partial<MonitorFilter>[] = [
    ...statusFilters.map((status) => ({ status_filter: status })),
    { is_active: true },
    { protocol: 'http' },
    { group_id: groupId },
    { tags: ['tag 3'] },
    { search: 'a1' },
    { page: 400 },
  ];
  return [...sorts, ...filters].map((given) => {
    const filter: MonitorFilter = { page: 1, page_size: 20, tags: [], sort: 'status', order: 'asc', ...given };
    const { tags, ...rest } = filter;
    const pairs: readonly (readonly [string, unknown])[] = [
      ...Object.entries(rest),
      ...tags.map((tag) => ['tag', tag] as const),
    ];
    const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
    return { name: Object.entries(given).flat().join(' '), query, filter };
  });
}
