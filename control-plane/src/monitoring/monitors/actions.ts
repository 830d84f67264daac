import type { ChangedMonitor, CreateMonitor, Monitor, MonitorTest } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { ByHand } from './check/replies.ts';
import { checkMonitor } from './check/routes.ts';
import type { Actor } from './gateway.ts';
import { readResultsPage } from './history/routes.ts';
import type { ResultsAnswer, ResultsQuery } from './history/routes.ts';
import { deleteMonitor } from './lifecycle/routes.ts';
import type { DeletionOptions } from './lifecycle/routes.ts';
import type { MonitorView } from './not-found.ts';
import type { MonitorRow } from './queries.ts';
import { changeMonitor, createMonitor } from './routes.ts';
import type { ChangeOfMonitor } from './routes.ts';
import { testConfiguration } from './test/routes.ts';
import type { Trial } from './test/routes.ts';

/**
 * What the routes of monitors do, for resources that are monitors under another name: roles, plans, limits, audit and news are those of
 * monitors, since it is the same code. All throw the problems of those routes.
 */
export type MonitorActions = {
  readonly create: (actor: Actor, body: CreateMonitor) => Promise<Monitor>;
  readonly change: (actor: Actor, monitorId: number, change: ChangeOfMonitor) => Promise<ChangedMonitor>;
  readonly remove: (actor: Actor, monitorId: number, view: MonitorView) => Promise<void>;
  readonly check: (
    actor: Actor,
    monitorId: number,
    view: MonitorView,
  ) => Promise<{ readonly answer: MonitorTest; readonly monitor: MonitorRow }>;
  readonly test: (actor: Actor, trial: Trial) => Promise<MonitorTest>;
  readonly results: (
    caller: Caller,
    monitorId: number,
    query: ResultsQuery,
    view: MonitorView,
  ) => Promise<ResultsAnswer>;
};

export function actionsOf(context: Context, means: ByHand, deletion: DeletionOptions): MonitorActions {
  return {
    create: (...given) => createMonitor(context, ...given),
    change: (...given) => changeMonitor(context, ...given),
    remove: (actor, monitorId, view) => deleteMonitor(context, actor, monitorId, deletion, view),
    check: (actor, monitorId, view) => checkMonitor(context, means, actor, monitorId, { view }),
    test: (...given) => testConfiguration(context, means, ...given),
    results: (...given) => readResultsPage(context, ...given),
  };
}
