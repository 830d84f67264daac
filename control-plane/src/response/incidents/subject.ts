import type { SubjectType } from '@parallax/api-contract';

/** What an outage is of. */
export type Subject = { readonly type: SubjectType; readonly id: number };

/** The subject of a monitor. */
export const ofMonitor = (id: number): Subject => ({ type: 'monitor', id });
