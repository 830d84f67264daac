/** The plans, by name: all that differs between them. A workspace has the plan of its owner; request rates are those of the caller. */
export type Plan = {
  /** Shortest interval between checks of a monitor. */
  readonly minimumIntervalSeconds: number;
  /** Requests of a user in all; undefined: not capped. */
  readonly requests: { readonly perHour: number; readonly perMinute: number } | undefined;
  /** Alert channel configurations of a user; undefined: not capped. */
  readonly alertChannels: number | undefined;
  /** Subscribers of a status page; undefined: not capped. */
  readonly pageSubscribers: number | undefined;
  /** How far back results are kept and read. */
  readonly retentionDays: number;
};

export const plans = {
  free: {
    minimumIntervalSeconds: 60,
    requests: { perHour: 100, perMinute: 10 },
    alertChannels: 2,
    pageSubscribers: 100,
    retentionDays: 30,
  },
  paid: {
    minimumIntervalSeconds: 30,
    requests: { perHour: 5_000, perMinute: 300 },
    alertChannels: undefined,
    pageSubscribers: 5_000,
    retentionDays: 90,
  },
  self_hosted: {
    minimumIntervalSeconds: 1,
    requests: undefined,
    alertChannels: undefined,
    pageSubscribers: undefined,
    retentionDays: 90,
  },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof plans;

/** The plan of that name. */
export function planOf(name: PlanName): Plan {
  return plans[name];
}

/** How far back results are kept under the plan that keeps them longest. */
export const longestRetentionDays = Math.max(...Object.values(plans).map((plan) => plan.retentionDays));
