import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startClosing } from './ledger/closing/job.ts';
import { slaRoutes } from './routes.ts';

export { createCorrector } from './correction.ts';
export type { CorrectedTime } from './correction.ts';
export { correctedTimes } from './corrections/queries.ts';
export { removeSlaRows, startNewChain } from './ledger/queries.ts';
export { readFigures, readLatency, readReport } from './gateway.ts';
export type { Book, BookRow } from './pdf/book.ts';
export { renderBook } from './pdf/gateway.ts';
export { nothing, pointsOf } from './pdf/formats.ts';
export type { Formats } from './pdf/formats.ts';
export { formatsFor } from './pdf/languages.ts';
export type { MonitorFigures, SlaReport } from './report.ts';
export { sealed, severalSubjects } from './seal.ts';
export { reportKey } from './signing/gateway.ts';

/** Service levels: reports, their files, corrections, and the ledger that holds what was told. */
export const slaCapability: Capability<Context> = {
  name: 'sla',
  routes: slaRoutes,
  services: [{ name: 'sla-ledger', role: 'worker', start: startClosing }],
};
