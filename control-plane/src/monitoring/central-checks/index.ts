export { CentralDesk } from './desk.ts';
export type { DeskMonitor } from './desk.ts';
export { createCentralCheck } from './gateway.ts';
export type { CentralCheck, CentralRun } from './gateway.ts';
export { createCentralRunner, startCentralRunner } from './job.ts';
export type { CentralLease, CentralRunner } from './job.ts';
export type { CentralResult } from './result.ts';
