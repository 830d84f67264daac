/** Subscribers of a page by what counts against its plan. */
export type SubscriberCounts = { readonly active: number; readonly pending: number };

/** Strangers who have not confirmed take no room from others, but there is an end to how many are asked. */
const mostPending = 1_000;

/** Whether a stranger who subscribes is asked to confirm it. @param most of the plan; undefined: any number */
export function mayAsk({ active, pending }: SubscriberCounts, most: number | undefined): boolean {
  return most === undefined || (active < most && pending < Math.max(most, mostPending));
}

/** Whether one more is told. */
export function mayConfirm({ active }: SubscriberCounts, most: number | undefined): boolean {
  return most === undefined || active < most;
}

/** Whether editors may add so many: whoever was asked and may still confirm counts. */
export function mayAdd({ active, pending }: SubscriberCounts, added: number, most: number | undefined): boolean {
  return most === undefined || active + pending + added <= most;
}
