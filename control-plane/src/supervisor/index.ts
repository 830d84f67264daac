export { endLeftovers } from './leftovers.ts';
export { runUp } from './run-up.ts';
export type { UpOptions, UpResult } from './up.ts';
export { readRunning, type RunningInstallation } from './running-file.ts';
export type { DatabaseUrls, InstallationInput, NatsMaterial, ProcessCommand, UpParts } from './parts.ts';
