export { InstallationError } from './errors.ts';
export { keyFileName } from './key-encryption-key.ts';
export { loadAuthority, loadNatsAuthority, revokedProbeKeys } from './keys.ts';
export { openInstallation, type OpenInstallation } from './open.ts';
export { prepareInstallation, type PreparedInstallation, type PrepareOptions } from './prepare.ts';
