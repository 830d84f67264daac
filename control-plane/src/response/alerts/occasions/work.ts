import { z } from 'zod';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { OutboxRow } from '../../../platform/outbox/consumer.ts';

/** What is noted of rows of one kind of the outbox, of different keys, in the transaction that takes them. */
export type Work = (transaction: Transaction, rows: readonly OutboxRow[], nowMs: number) => Promise<void>;

/** An instant of a payload, as milliseconds since the epoch. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
export const ofWorkspace = z.looseObject({ workspace_id: z.number().int() });
export const ofMonitor = z.looseObject({ monitor_id: z.number().int() });

/** A monitor as what there is to tell of. */
export const monitorSubject = (id: number) => ({ type: 'monitor', id });
