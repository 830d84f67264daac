import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startClosing } from './ledger/closing/job.ts';
import { slaRoutes } from './routes.ts';

export { removeSlaRows, startNewChain } from './ledger/queries.ts';
export type { SlaReport } from './report.ts';

/** Service levels: reports, their files, corrections, and the ledger that holds what was told. */
export const slaCapability: Capability<Context> = {
  name: 'sla',
  routes: slaRoutes,
  services: [{ name: 'sla-ledger', role: 'worker', start: startClosing }],
};
