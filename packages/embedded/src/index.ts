export { chooseDataFolder, databaseAccount, isReachable, type Account } from './data-folder.mjs';
export { downloadedNatsServer, findNatsServer } from './nats-binary.mjs';
export { FolderInUseError } from './errors.ts';
export { lockFolder, type FolderLock } from './folder-lock.ts';
export {
  endProcess,
  endRecordedProcess,
  forgetProcess,
  identityOf,
  isRunning,
  recordProcess,
  type ProcessIdentity,
  type SignalStep,
} from './process-identity.ts';
export {
  exitText,
  runProcess,
  type ProcessExit,
  type ProcessLog,
  type ProcessSpec,
  type Readiness,
  type RunningProcess,
  within,
} from './run-process.ts';
export { postgresOwner, preparePostgres, startPostgres, type PostgresOptions, type PostgresUrl } from './postgres.ts';
export { openDataFolder, privateFolder } from './private-folder.ts';
export {
  natsConfiguration,
  prepareNats,
  startNats,
  type NatsOperator,
  type NatsOptions,
  type NatsTls,
} from './nats.ts';
export { endLeftoverPostgres } from './postgres-leftover.ts';
