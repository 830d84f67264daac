export { BackupError } from './backup-error.ts';
export { createBackup, type BackupOptions, type BackupSummary } from './create.ts';
export { restoreBackup, type RestoreOptions, type RestoreSummary } from './restore.ts';
export { tablePlans } from './tables.ts';
export { openBackup, verifyBackup, type VerifiedBackup } from './verify.ts';
export { writeBackupFile } from './backup-file.ts';
