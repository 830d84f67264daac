import type { ControlPlaneSettings } from '@parallax/settings';
import type { DatabaseUrls } from './platform/database/pools.ts';

/** The three logins: as the operator names them, else the fixed role names at the owner's place. */
export function databaseUrls(
  settings: Pick<ControlPlaneSettings, 'databaseApiUrl' | 'databaseWorkerUrl'>,
  ownerUrl: string,
): DatabaseUrls {
  return {
    owner: ownerUrl,
    api: settings.databaseApiUrl ?? atSamePlace(ownerUrl, 'parallax_api'),
    worker: settings.databaseWorkerUrl ?? atSamePlace(ownerUrl, 'parallax_worker'),
  };
}

// By text: the host may be a percent-encoded path, which URL classes change.
function atSamePlace(ownerUrl: string, role: string): string {
  return ownerUrl.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/]*@)?/, `$1${role}@`);
}
