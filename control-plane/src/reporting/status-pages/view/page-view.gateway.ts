import type { StatusPageFileKind } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { readSpans, subjectTypes } from '../../day-sums/index.ts';
import type { SubjectIds, SubjectType } from '../../day-sums/index.ts';
import { correctedTimes } from '../../sla/index.ts';
import { daysOfZone } from '../../statistics/index.ts';
import { accessOf } from '../access/page-access.ts';
import type { PageAccess } from '../access/page-access.ts';
import { namedWords } from './component-status.ts';
import { componentView, isShown, keyOf, monitorsOf, sectionsOf, wordsOf } from './components.ts';
import type { PageDays } from './components.ts';
import { daysOfSubject } from './day-times.ts';
import type { SubjectDays } from './day-times.ts';
import { incidentsOfPage } from './incidents.queries.ts';
import { indicatorOf } from './indicator.ts';
import { plannedOccurrences, startedOccurrences } from './maintenance.queries.ts';
import { pageOfSlug, publishedPage } from './page.queries.ts';
import type { PageItem, PageRow, PageSubject } from './page.queries.ts';
import type { ComponentView, IncidentView, MaintenanceView, PageFile, PageFiles, PageView } from './page-view.ts';
import { isTold, publicIncidents } from './public-incidents.ts';
import type { StoredIncident } from './public-incidents.ts';
import { publicMaintenance } from './public-maintenance.ts';
import { responseTimesOf } from './response-times.queries.ts';
import { statesOf } from './status.queries.ts';
import { installationAddress, pageAddress } from './page-address.ts';

/** Where a page is, the slug that it has now, and who may read it; null: everybody. */
export type PublishedPage = {
  readonly pageId: number;
  readonly workspaceId: number;
  readonly slug: string;
  readonly accessVersion: number;
  readonly access: PageAccess | null;
};

/** The published page that a slug leads to; a slug that differs from the asked one is to be redirected to. */
export async function findPublishedPage(
  context: Pick<Context, 'database' | 'sealer'>,
  slug: string,
): Promise<PublishedPage | null> {
  const found = await pageOfSlug(context.database.api, slug);
  if (found === null) return null;
  const { page_id: pageId, workspace_id: workspaceId, access_version: accessVersion } = found;
  return { pageId, workspaceId, slug: found.slug, accessVersion, access: accessOf(found, context.sealer) };
}

/** All that a page tells; null: it is gone, or not published. Row-level security lets through the workspace of the page alone. */
export async function readPageView(
  context: Pick<Context, 'database' | 'publicUrl'>,
  { workspaceId, pageId }: Pick<PublishedPage, 'workspaceId' | 'pageId'>,
  nowMs: number,
): Promise<PageView | null> {
  const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
  return inScope(context.database.api, scope, async (tx) => {
    const found = await publishedPage(scope, tx, pageId);
    return found === null ? null : readViewOf(scope, tx, { ...found, publicUrl: context.publicUrl }, nowMs);
  });
}

/** All that a page would tell that is set to this and shows that. */
export async function readViewOf(
  scope: Scope,
  tx: Transaction,
  {
    page,
    items,
    publicUrl,
  }: { readonly page: PageRow; readonly items: readonly PageItem[]; readonly publicUrl: string },
  nowMs: number,
): Promise<PageView> {
  const facts = await readFacts(scope, tx, page, items, nowMs);
  return viewOf(page, items, facts, publicUrl, nowMs);
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

type Facts = Awaited<ReturnType<typeof readFacts>>;

/** A statement for each kind of fact, however many components there are. */
async function readFacts(scope: Scope, tx: Transaction, page: PageRow, items: readonly PageItem[], nowMs: number) {
  const subjects = items.flatMap((item) => item.subjects);
  const ids = idsOf(subjects);
  const componentsOf = componentsBySubject(items);
  const rules = {
    nowMs,
    automaticIncidents: page.automatic_incidents,
    delayMs: page.delay_minutes * minuteMs,
    names: new Map(items.map(({ componentId, name }) => [componentId, name])),
  };
  const pageDays = daysOfPage(page.days, page.timezone, nowMs);
  const window = { fromMs: pageDays.edgesMs[0] ?? nowMs, toMs: nowMs };
  const states = await statesOf(scope, tx, ids);
  const measured = idsOf(items.filter(({ showsUptime }) => showsUptime).flatMap((item) => item.subjects));
  const days = await readDays(scope, tx, measured, pageDays, nowMs);
  const timed = items.filter(({ showsResponseTimes }) => showsResponseTimes).map(monitorsOf);
  const alone = [...new Set(timed.filter(({ length }) => length === 1).flat())];
  const together = [...new Set(timed.filter(({ length }) => length > 1).flat())];
  const responseTimes = await responseTimesOf(scope, tx, { alone, together }, window);
  const incidents = await incidentsOfPage(scope, tx, ids, componentsOf, rules);
  const started = await startedOccurrences(scope, tx, ids, componentsOf, nowMs);
  const planned = await plannedOccurrences(scope, tx, ids, componentsOf, nowMs);
  return { states, days, responseTimes, incidents, occurrences: [...started, ...planned], rules, pageDays };
}

/** The time of subjects in days, as the service level has it: two statements. */
export async function readDays(
  scope: Scope,
  tx: Transaction,
  ids: SubjectIds,
  { edgesMs }: Pick<PageDays, 'edgesMs'>,
  nowMs: number,
): Promise<ReadonlyMap<string, SubjectDays>> {
  const window = { fromMs: edgesMs[0] ?? nowMs, toMs: nowMs };
  const spans = await readSpans(scope, tx, ids, window, nowMs);
  const corrections = await correctedTimes(scope, tx, ids.monitor, window);
  return new Map(
    [...spans].map(([key, own]) => {
      const id = key.startsWith('monitor ') ? Number(key.slice('monitor '.length)) : 0;
      return [key, daysOfSubject(own, corrections.get(id) ?? [], edgesMs)];
    }),
  );
}

/** Zones are at whole quarters of hours from UTC, so no day begins within one. */
const quarterMs = 15 * minuteMs;
/** What was worked out last of so many pages: the clock of a zone is slow to ask. */
const mostKeptDays = 200;
const keptDays = new Map<string, PageDays>();

/** The days of a page in its zone: the present one, and those before it. */
function daysOfPage(count: number, timezone: string, nowMs: number): PageDays {
  const toMs = Math.floor(nowMs) + 1;
  const key = `${count} ${timezone} ${Math.floor(nowMs / quarterMs)}`;
  const kept = keptDays.get(key);
  if (kept !== undefined) return { ...kept, edgesMs: [...kept.edgesMs.slice(0, -1), toMs] };
  const made = workOutDays(count, timezone, toMs);
  if (keptDays.size >= mostKeptDays) keptDays.clear();
  keptDays.set(key, made);
  return made;
}

function workOutDays(count: number, timezone: string, toMs: number): PageDays {
  const days = daysOfZone({ fromMs: toMs - (count + 2) * dayMs, toMs }, timezone).slice(-count);
  return { dates: days.map(({ day }) => day), edgesMs: [...days.map(({ fromMs }) => fromMs), toMs] };
}

/** Identifiers of subjects by type, each once. */
export function idsOf(subjects: readonly PageSubject[]): SubjectIds {
  const ofType = (type: SubjectType) => [...new Set(subjects.flatMap((one) => (one.type === type ? [one.id] : [])))];
  const [monitor, heartbeat, webhookCheck] = subjectTypes.map(ofType);
  return { monitor: monitor ?? [], heartbeat: heartbeat ?? [], webhook_check: webhookCheck ?? [] };
}

/** Which components of a page a subject belongs to. */
export function componentsBySubject(items: readonly PageItem[]): (type: SubjectType, id: number) => readonly string[] {
  const pairs = items.flatMap((item) => item.subjects.map((subject) => ({ key: keyOf(subject), item })));
  const byKey = Map.groupBy(pairs, ({ key }) => key);
  return (type, id) => (byKey.get(keyOf({ type, id })) ?? []).map(({ item }) => item.componentId);
}

function viewOf(page: PageRow, items: readonly PageItem[], facts: Facts, publicUrl: string, nowMs: number): PageView {
  const { states, rules, pageDays } = facts;
  const told = facts.incidents.filter((incident) => isTold(incident, rules));
  const words = wordsOf(items, states, namedWords(told.map(saidOf)), rules);
  const incidents = publicIncidents(told, rules);
  const maintenance = publicMaintenance(facts.occurrences, rules);
  const views = new Map<string, ComponentView>();
  for (const item of items) {
    const word = words.get(item.componentId);
    if (word === undefined || !isShown(item, word)) continue;
    views.set(item.componentId, componentView(item, word, facts, pageDays, incidents));
  }
  const sections = sectionsOf(page.public_id, items, views, words);
  const statuses = [...words.values()].map(({ status }) => status);
  const severities = told.flatMap((one) => (one.isManual && one.resolvedMs === null ? [one.severity] : []));
  const isAnnounced = page.announcement_until === null || page.announcement_until > nowMs;
  return {
    id: page.public_id,
    name: page.name,
    description: page.description,
    slug: page.slug,
    ...placeOf(page, publicUrl),
    files: filesOf(page.files),
    noindex: page.noindex,
    locale: page.locale,
    locales: page.locales,
    timezone: page.timezone,
    dayCount: page.days,
    lastDate: pageDays.dates.at(-1) ?? '',
    theme: page.theme,
    links: page.links,
    announcement: isAnnounced ? page.announcement : null,
    embedOrigins: page.embed_origins,
    subscribe: page.subscribe,
    createdMs: Math.floor(page.created_at),
    madeMs: Math.floor(nowMs),
    updatedMs: lastChange(page, views, incidents, maintenance, nowMs),
    indicator: indicatorOf(statuses, severities),
    sections,
    incidents,
    maintenance,
  };
}

function placeOf(page: PageRow, publicUrl: string): Pick<PageView, 'url' | 'installationPath'> {
  const url = pageAddress(page, publicUrl);
  if (page.domain === null) return { url };
  return { url, installationPath: new URL(installationAddress(page.slug, publicUrl)).pathname };
}

function filesOf(files: PageRow['files']): PageFiles {
  const of = (kind: StatusPageFileKind): PageFile | null => {
    const file = files.find((each) => each.kind === kind);
    return file === undefined ? null : { hash: file.hash, type: file.type, width: file.width, height: file.height };
  };
  return { logoLight: of('logo-light'), logoDark: of('logo-dark'), favicon: of('favicon') };
}

function saidOf({ resolvedMs, updates }: StoredIncident) {
  return {
    resolvedMs,
    updates: updates.map(({ createdMs, displayMs, impacts }) => ({
      atMs: Math.floor(displayMs ?? createdMs),
      impacts,
    })),
  };
}

function lastChange(
  page: PageRow,
  views: ReadonlyMap<string, ComponentView>,
  incidents: readonly IncidentView[],
  maintenance: readonly MaintenanceView[],
  nowMs: number,
): number {
  const changes = [
    page.updated_at,
    ...[...views.values()].map(({ sinceMs }) => sinceMs ?? 0),
    ...incidents.flatMap(({ updates }) => updates.map(({ createdMs }) => createdMs)),
    ...maintenance.map(({ updatedMs }) => updatedMs),
  ];
  return Math.floor(changes.reduce((last, ms) => (ms <= nowMs ? Math.max(last, ms) : last), 0));
}
