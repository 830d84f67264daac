import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { RunningService } from '../../running-service.ts';
import { startKeySweep } from './job.ts';

export { createOnce } from './once.ts';
export type { Exchange, Once } from './once.ts';

type SweepContext = { readonly database: { readonly worker: DatabasePool } };

/** Requests that are done once, however often they are sent. */
export const idempotencyCapability: {
  readonly name: string;
  readonly services: readonly {
    readonly name: string;
    readonly role: 'worker';
    readonly start: (context: SweepContext, log: Logger) => Promise<RunningService>;
  }[];
} = {
  name: 'idempotency',
  services: [{ name: 'idempotency-sweep', role: 'worker', start: startKeySweep }],
};
