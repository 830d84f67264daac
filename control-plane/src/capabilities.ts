import type { Capability } from './capability.ts';
import type { Context } from './context.ts';
import { accountsCapability } from './identity/accounts/index.ts';
import { apiKeysCapability } from './identity/api-keys/index.ts';
import { auditCapability } from './identity/audit/index.ts';
import { authCapability } from './identity/auth/index.ts';
import { invitePageCapability } from './identity/invite-page/index.ts';
import { accessTokensCapability } from './identity/tokens/index.ts';
import { signInCapability } from './identity/sign-in/index.ts';
import { workspacesCapability } from './identity/workspaces/index.ts';
import { apiCheckRoutes } from './monitoring/api-checks/index.ts';
import { assignmentsCapability } from './monitoring/assignments/index.ts';
import { certificatesCapability } from './monitoring/certificates/index.ts';
import { checkResultsCapability, samplePackedHours } from './monitoring/check-results/index.ts';
import { diagnosticsCapability } from './monitoring/diagnostics/index.ts';
import { dnsblCapability, removeListings } from './monitoring/dnsbl/index.ts';
import { expiryCapability, removeExpiries } from './monitoring/expiry/index.ts';
import { flappingCapability, forgetFlappingOfDeleted, forgetFlappingOfReset } from './monitoring/flapping/index.ts';
import {
  groupsCapability,
  leaveGroupsOfDeleted,
  leaveGroupsOfMoved,
  removeGroupsOfWorkspace,
} from './monitoring/groups/index.ts';
import {
  heartbeatsCapability,
  moveHeartbeatDeadlines,
  removeHeartbeatsOfWorkspace,
} from './monitoring/heartbeats/index.ts';
import { createIntakeWatch } from './monitoring/intake-watch/index.ts';
import { createMonitorsCapability } from './monitoring/monitors/index.ts';
import { probesCapability } from './monitoring/probes/index.ts';
import {
  moveWebhookDeadlines,
  removeWebhookChecksOfWorkspace,
  webhookChecksCapability,
} from './monitoring/webhook-checks/index.ts';
import { sampleReadModels } from './monitoring/status-ranges/index.ts';
import { createHealthCapability } from './platform/health/index.ts';
import { idempotencyCapability } from './platform/http/idempotency/index.ts';
import { mailCapability } from './platform/mail/index.ts';
import { accountStatsCapability } from './reporting/account-stats/index.ts';
import { analyticsCapability, removeLatencyDaysOfWorkspace } from './reporting/analytics/index.ts';
import {
  badgesCapability,
  forgetOldBadges,
  removeBadgeOfDeleted,
  removeBadgesOfWorkspace,
} from './reporting/badges/index.ts';
import { dashboardCapability } from './reporting/dashboard/index.ts';
import { feedbackCapability } from './reporting/feedback/index.ts';
import { createDaySumsCapability, removeDaysOfWorkspace, removeSubjectDays } from './reporting/day-sums/index.ts';
import { liveEventsCapability } from './reporting/live-events/index.ts';
import {
  leaveReportsOfDeleted,
  leaveReportsOfMoved,
  removeReportsOfWorkspace,
  scheduledReportsCapability,
} from './reporting/scheduled-reports/index.ts';
import { removeSlaRows, slaCapability, startNewChain } from './reporting/sla/index.ts';
import {
  forgetOldPages,
  leavePagesOfDeleted,
  leavePagesOfMoved,
  removePagesOfWorkspace,
  statusPagesCapability,
} from './reporting/status-pages/index.ts';
import { statisticsCapability } from './reporting/statistics/index.ts';
import { channelsCapability, takeUpBrowser } from './response/channels/index.ts';
import {
  alertsCapability,
  leaveAlertsOfDeleted,
  leaveAlertsOfMoved,
  removeAlertHistoryOfReset,
  removeAlertsOfWorkspace,
} from './response/alerts/index.ts';
import {
  incidentsCapability,
  moveIncidents,
  removeIncidentsOfReset,
  removeIncidentsOfWorkspace,
  resolveIncidentOfDeleted,
} from './response/incidents/index.ts';
import { consolePagesCapability } from './response/console-pages/index.ts';
import { teamChatCapability } from './response/team-chat/index.ts';
import { createMessengerCapability, removeMessengerGroupsOfWorkspace } from './response/messenger/index.ts';
import {
  leaveMaintenanceOfDeleted,
  leaveMaintenanceOfMoved,
  maintenanceCapability,
  removeMaintenanceOfWorkspace,
  removeMonitorMaintenance,
} from './response/maintenance/index.ts';
import { announceDeletion, announceMove, createEventsCapability } from './response/events/index.ts';
import {
  leaveWebhooksOfDeleted,
  leaveWebhooksOfMoved,
  removeWebhooksOfWorkspace,
  takeEvents,
  webhooksCapability,
} from './response/webhooks/index.ts';
import { createWebPushCapability } from './response/web-push/index.ts';

/** Every capability of the control plane, in the order in which its services start: the only list. */
export const capabilities: readonly Capability<Context>[] = [
  createHealthCapability({ readModels: [sampleReadModels, samplePackedHours] }),
  mailCapability,
  idempotencyCapability,
  authCapability,
  accountsCapability,
  apiKeysCapability,
  accessTokensCapability,
  auditCapability,
  workspacesCapability,
  signInCapability,
  invitePageCapability,
  checkResultsCapability,
  probesCapability,
  assignmentsCapability,
  diagnosticsCapability,
  flappingCapability,
  createMonitorsCapability({
    onMonitorDeleted: [
      resolveIncidentOfDeleted,
      forgetFlappingOfDeleted,
      leaveGroupsOfDeleted,
      leaveMaintenanceOfDeleted,
      leaveAlertsOfDeleted,
      leaveWebhooksOfDeleted,
      leaveReportsOfDeleted,
      leavePagesOfDeleted,
      removeBadgeOfDeleted,
      announceDeletion,
    ],
    onWorkspaceEmptied: [
      removeAlertsOfWorkspace,
      removeWebhooksOfWorkspace,
      removeReportsOfWorkspace,
      removeBadgesOfWorkspace,
      removePagesOfWorkspace,
      removeMaintenanceOfWorkspace,
      removeGroupsOfWorkspace,
      removeHeartbeatsOfWorkspace,
      removeWebhookChecksOfWorkspace,
      removeIncidentsOfWorkspace,
      removeMessengerGroupsOfWorkspace,
      removeDaysOfWorkspace,
      removeLatencyDaysOfWorkspace,
    ],
    onMonitorsMoved: [
      leaveGroupsOfMoved,
      leaveMaintenanceOfMoved,
      leaveAlertsOfMoved,
      leaveWebhooksOfMoved,
      leaveReportsOfMoved,
      leavePagesOfMoved,
      announceMove,
      moveIncidents,
    ],
    onMonitorReset: [removeIncidentsOfReset, removeAlertHistoryOfReset, forgetFlappingOfReset, startNewChain],
    rowsOfMonitor: [removeSlaRows, removeExpiries, removeListings, removeMonitorMaintenance, removeSubjectDays],
    resources: [apiCheckRoutes],
  }),
  certificatesCapability,
  dnsblCapability,
  expiryCapability,
  groupsCapability,
  createIntakeWatch([moveHeartbeatDeadlines, moveWebhookDeadlines]),
  heartbeatsCapability,
  webhookChecksCapability,
  incidentsCapability,
  maintenanceCapability,
  alertsCapability,
  channelsCapability,
  createMessengerCapability(),
  teamChatCapability,
  consolePagesCapability,
  createEventsCapability([takeEvents]),
  webhooksCapability,
  createWebPushCapability({ onSubscribed: [takeUpBrowser] }),
  statisticsCapability,
  createDaySumsCapability([forgetOldPages, forgetOldBadges]),
  slaCapability,
  scheduledReportsCapability,
  statusPagesCapability,
  badgesCapability,
  accountStatsCapability,
  analyticsCapability,
  dashboardCapability,
  feedbackCapability,
  liveEventsCapability,
];
