import type { Sealer } from '../../../platform/crypto/seal.ts';
import type { AnySettings } from '../channel.ts';

const contextOf = (configId: number): string => `alert channel configuration ${configId}`;

/** Settings with their credentials, for the database. */
export function sealSettings(sealer: Sealer, configId: number, settings: AnySettings): Buffer {
  return sealer.seal(JSON.stringify(settings), contextOf(configId));
}

/** Opens what `sealSettings` made. @throws SealError */
export function openSettings(sealer: Sealer, configId: number, sealed: Uint8Array): AnySettings {
  return JSON.parse(sealer.open(sealed, contextOf(configId)).toString()) as AnySettings;
}
