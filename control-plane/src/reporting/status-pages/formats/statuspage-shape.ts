/** The shapes of version 2 of the public API of Statuspage, as its documentation and its pages show them. Times are ISO 8601. */

export type V2ComponentStatus =
  | 'operational'
  | 'degraded_performance'
  | 'partial_outage'
  | 'major_outage'
  | 'under_maintenance';

export type V2Page = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly time_zone: string;
  readonly updated_at: string;
};

export type V2Component = {
  readonly id: string;
  readonly name: string;
  readonly status: V2ComponentStatus;
  readonly created_at: string;
  readonly updated_at: string;
  readonly position: number;
  readonly description: string | null;
  readonly showcase: boolean;
  readonly start_date: string | null;
  readonly group_id: string | null;
  readonly page_id: string;
  readonly group: boolean;
  readonly only_show_if_degraded: boolean;
  /** Ids of its members; groups alone have it. */
  readonly components?: readonly string[];
};

export type V2Update<Status extends string> = {
  readonly id: string;
  readonly status: Status;
  readonly body: string;
  readonly incident_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly display_at: string;
  readonly affected_components: readonly {
    readonly code: string;
    readonly name: string;
    readonly old_status: V2ComponentStatus;
    readonly new_status: V2ComponentStatus;
  }[];
  readonly deliver_notifications: boolean;
  readonly custom_tweet: null;
  readonly tweet_id: null;
};

type V2Event<Status extends string, Impact extends string> = {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly created_at: string;
  readonly updated_at: string;
  readonly monitoring_at: string | null;
  readonly resolved_at: string | null;
  readonly impact: Impact;
  readonly shortlink: string;
  readonly started_at: string;
  readonly page_id: string;
  readonly incident_updates: readonly V2Update<Status>[];
  readonly components: readonly V2Component[];
  readonly reminder_intervals: null;
};

export type V2IncidentStatus = 'investigating' | 'identified' | 'monitoring' | 'resolved' | 'postmortem';
export type V2Incident = V2Event<V2IncidentStatus, 'none' | 'minor' | 'major' | 'critical'>;

/** There is also `verifying`, which no maintenance of ours is. */
export type V2MaintenanceStatus = 'scheduled' | 'in_progress' | 'completed';
export type V2Maintenance = V2Event<V2MaintenanceStatus, 'maintenance'> & {
  readonly scheduled_for: string;
  readonly scheduled_until: string;
};

export type V2Status = {
  readonly indicator: 'none' | 'minor' | 'major' | 'critical' | 'maintenance';
  readonly description: string;
};
