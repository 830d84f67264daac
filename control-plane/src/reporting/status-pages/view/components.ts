import { raised, wordOf, wordOfGroup, worstOf } from './component-status.ts';
import type { NamedWord, SubjectState, Word } from './component-status.ts';
import { daysOfComponent } from './day-times.ts';
import type { ComponentDays, SubjectDays } from './day-times.ts';
import type { PageItem, PageSubject } from './page.queries.ts';
import type { ComponentView, IncidentView, SectionView, TroubledDay } from './page-view.ts';
import { publicIdOf } from './public-id.ts';
import { medianTimes } from './response-times.ts';
import type { ResponseTimes } from './response-times.ts';

/** The days of a page. */
export type PageDays = {
  /** Dates in the page's zone, the oldest first. */
  readonly dates: readonly string[];
  /** Their bounds, one more than there are days; the last is the present instant. */
  readonly edgesMs: readonly number[];
};

/** What is known of subjects, each by `keyOf`. */
export type Known = {
  readonly states: ReadonlyMap<string, SubjectState>;
  readonly days: ReadonlyMap<string, SubjectDays>;
  readonly responseTimes: ResponseTimes;
};

export const keyOf = ({ type, id }: PageSubject): string => `${type} ${id}`;

/** The word of each component of a page, by its identifier. */
export function wordsOf(
  items: readonly PageItem[],
  states: ReadonlyMap<string, SubjectState>,
  named: ReadonlyMap<string, readonly NamedWord[]>,
  at: { readonly nowMs: number; readonly delayMs: number },
): ReadonlyMap<string, Word> {
  return new Map(
    items.map((item) => {
      const words = item.subjects.flatMap((subject) => {
        const state = states.get(keyOf(subject));
        return state === undefined ? [] : [wordOf(state, at)];
      });
      const [only] = words;
      const word = item.isGroup || only === undefined ? wordOfGroup(words) : only;
      return [item.componentId, raised(word, named.get(item.componentId) ?? [])];
    }),
  );
}

/** The monitors of a component. */
export const monitorsOf = ({ subjects }: PageItem): number[] =>
  subjects.flatMap(({ type, id }) => (type === 'monitor' ? [id] : []));

/** A component as its page shows it. */
export function componentView(
  item: PageItem,
  word: Word,
  known: Known,
  pageDays: PageDays,
  incidents: readonly IncidentView[],
): ComponentView {
  const days = item.showsUptime
    ? daysOfComponent(
        item.subjects.flatMap((subject) => known.days.get(keyOf(subject)) ?? []),
        pageDays.dates.length,
      )
    : null;
  return {
    id: item.componentId,
    name: item.name,
    description: item.description,
    status: word.status,
    sinceMs: word.sinceMs,
    showsUptime: item.showsUptime,
    uptimePercent: days?.uptimePercent ?? null,
    measuredPercent: days?.measuredPercent ?? null,
    days: days?.letters ?? [],
    troubles: days === null ? [] : troublesOf(item.componentId, days, pageDays, incidents),
    ...(item.showsResponseTimes
      ? { responseTimesMs: medianTimes(monitorsOf(item), known.responseTimes, pageDays.dates) }
      : {}),
  };
}

/** Days on which something was wrong or planned, the newest first. */
function troublesOf(
  componentId: string,
  { letters, seconds }: ComponentDays,
  { dates, edgesMs }: PageDays,
  incidents: readonly IncidentView[],
): TroubledDay[] {
  const own = incidents.filter(({ componentIds }) => componentIds.includes(componentId));
  const troubles = dates.flatMap((date, day): TroubledDay[] => {
    const [startMs = 0, endMs = 0] = [edgesMs[day], edgesMs[day + 1]];
    const titles = own
      .filter(({ startedMs, resolvedMs }) => startedMs < endMs && (resolvedMs ?? endMs) >= startMs)
      .flatMap(({ title }) => title ?? []);
    const { down = 0, degraded = 0, maintenance = 0 } = seconds[day] ?? {};
    const isTroubled = down > 0 || degraded > 0 || letters[day] === 'm' || titles.length > 0;
    if (!isTroubled) return [];
    return [
      {
        date,
        downSeconds: down,
        degradedSeconds: degraded,
        maintenanceSeconds: maintenance,
        incidents: [...new Set(titles)],
      },
    ];
  });
  return troubles.toReversed();
}

/**
 * The components of a page under their headings, in the order in which a page names each first. A component that is shown only in trouble counts for
 * its section all the same.
 */
export function sectionsOf(
  pageId: string,
  items: readonly PageItem[],
  views: ReadonlyMap<string, ComponentView>,
  words: ReadonlyMap<string, Word>,
): SectionView[] {
  return [...Map.groupBy(items, ({ section }) => section)].flatMap(([name, own]): SectionView[] => {
    const components = own.flatMap((item) => views.get(item.componentId) ?? []);
    if (components.length === 0) return [];
    const statuses = own.flatMap((item) => words.get(item.componentId)?.status ?? []);
    return [{ id: name === null ? null : publicIdOf(pageId, name), name, status: worstOf(statuses), components }];
  });
}

/** Whether a page shows a component. */
export function isShown({ isOnlyIfDegraded }: PageItem, { status }: Word): boolean {
  return !isOnlyIfDegraded || (status !== 'operational' && status !== 'unknown');
}
