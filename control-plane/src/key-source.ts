import { decodeKey } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';
import type { KeySource } from './installation/index.ts';

/** Where the key-encryption key is: given, or in the data folder. */
export function keySource(settings: ControlPlaneSettings): KeySource {
  return { ...givenKeys(settings), dataDir: settings.dataDir ?? './data' };
}

/** The key-encryption keys that the operator gives. */
export function givenKeys(settings: ControlPlaneSettings): Omit<KeySource, 'dataDir'> {
  const { keyEncryptionKey: key, keyEncryptionKeyPrevious: previous } = settings;
  return {
    keyEncryptionKey: key === undefined ? undefined : decodeKey(key),
    previousKeyEncryptionKey: previous === undefined ? undefined : decodeKey(previous),
  };
}
