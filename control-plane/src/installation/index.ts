export {
  BackupError,
  createBackup,
  openBackup,
  restoreBackup,
  verifyBackup,
  writeBackupFile,
  type BackupSummary,
  type RestoreSummary,
} from './backup/index.ts';
export { externalBroker, type ExternalBroker } from './external-broker.ts';
export { provideJoinTokens, type TokenFileOutcome, type WantedProbe } from './join-token-files.ts';
export { findKeys, keyFileName, requireKeys, type FoundKeys, type KeySource } from './key-encryption-key.ts';
export { retireOthers, rotateKey, startKeyWatch, withSuccessor } from './key-rotation/index.ts';
export { loadAuthority, loadNatsAuthority, revokedProbeKeys } from './keys.ts';
export { writeNatsFiles } from './nats-files.ts';
export { openInstallation, type OpenInstallation } from './open.ts';
export { prepareInstallation, type PreparedInstallation, type PrepareOptions } from './prepare.ts';
