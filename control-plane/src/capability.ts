import type { Logger } from '@parallax/telemetry';
import type { Route } from './platform/http/handler.ts';
import type { OutboxConsumer } from './platform/outbox/consumer.ts';
import type { RunningService } from './platform/running-service.ts';
import type { Role } from './role.ts';

/** What a capability adds to the process. Listed once in `capabilities.ts`. */
export type Capability<Context> = {
  readonly name: string;
  /** REST routes; served by the role `api`. */
  readonly routes?: (context: Context) => readonly Route[];
  /** Long-running parts, each with the role that runs it; started in order, stopped in reverse. */
  readonly services?: readonly Service<Context>[];
  /** What acts on state changes from the outbox; run by the role `worker`. */
  readonly consumers?: readonly OutboxConsumer<Context>[];
};

export type Service<Context> = {
  readonly name: string;
  readonly role: Role;
  readonly start: (context: Context, log: Logger) => Promise<RunningService>;
};
