export { applyPlan } from './apply.ts';
export { loadWanted } from './load.ts';
export { writeAsCode } from './document/write.ts';
export { AsCodeError } from './errors.ts';
export { createClient } from './gateway.ts';
export type { Client } from './gateway.ts';
export { planOf, sizeOf } from './plan/plan.ts';
export { printable, showDifferences, showPlan } from './plan/show.ts';
export { findWorkspace, readRemote } from './remote.ts';
