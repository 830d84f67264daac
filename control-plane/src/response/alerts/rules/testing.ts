import type { TestContext } from '@parallax/testkit';
import { alertSchema } from '@parallax/api-contract';
import type { Alert } from '@parallax/api-contract';
import type { Capability } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import type { TestAnswer, TestCall } from '../../../identity/testing.ts';
import { groupsApi } from '../../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../../monitoring/groups/testing.ts';
import { idempotencyCapability } from '../../../platform/http/idempotency/index.ts';
import { alertsCapability, leaveAlertsOfDeleted, leaveAlertsOfMoved, removeAlertHistoryOfReset } from '../index.ts';
import { channelsCapability } from '../../channels/index.ts';
import { incidentsCapability } from '../../incidents/index.ts';

export type AlertsApi = GroupsApi & {
  /** Calls below `/alerts` as the owner. */
  readonly alerts: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes an alert of the owner that tells the own address of everything; must succeed. */
  readonly alert: (body?: Record<string, unknown>, more?: TestCall) => Promise<Alert>;
  readonly read: (id: number, more?: TestCall) => Promise<Alert>;
};

/** One step that tells the own address at once. */
export const ownMail = [{ after_seconds: 0, targets: [{ channel: 'email' }] }];

/** For tests: the API with monitors, groups, incidents and alerts. */
export async function alertsApi(
  t: TestContext,
  more: readonly Capability<Context>[] = [],
  context: Partial<Context> = {},
): Promise<AlertsApi> {
  const api = await groupsApi(t, {
    context,
    monitors: {
      onMonitorDeleted: [leaveAlertsOfDeleted],
      onMonitorsMoved: [leaveAlertsOfMoved],
      onMonitorReset: [removeAlertHistoryOfReset],
    },
    more: [idempotencyCapability, incidentsCapability, channelsCapability, alertsCapability, ...more],
  });
  const alerts: AlertsApi['alerts'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/alerts${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  let made = 0;
  return {
    ...api,
    alerts,
    alert: async (body = {}, call = {}) => {
      made += 1;
      const given = { workspace_id: api.workspaceId, name: `alert ${made}`, steps: ownMail, ...body };
      const answer = await alerts('POST', '', given, call);
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text}`);
      return alertSchema.parse(answer.body);
    },
    read: async (id, call = {}) => alertSchema.parse((await alerts('GET', `/${id}`, undefined, call)).body),
  };
}
