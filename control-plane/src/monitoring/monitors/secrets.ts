import type { Sealer } from '../../platform/crypto/seal.ts';
import { secretsContext } from '../assignments/index.ts';
import type { MonitorRow, MonitorValues } from './queries.ts';
import type { PlainValues } from './values.ts';

/** The secret settings of a stored monitor; empty when there are none. */
export function openSecrets(sealer: Sealer, row: Pick<MonitorRow, 'id' | 'sealed_secrets'>): Record<string, unknown> {
  if (row.sealed_secrets === null) return {};
  const text = sealer.open(row.sealed_secrets, secretsContext(row.id)).toString('utf8');
  return JSON.parse(text) as Record<string, unknown>;
}

/** Values as they are stored: secret settings sealed for this monitor, their names kept readable. */
export function sealedValues(sealer: Sealer, monitorId: number, values: PlainValues): MonitorValues {
  const { open, secret } = values.settings;
  const names = Object.keys(secret).sort();
  return {
    ...values,
    settings: open,
    secret_fields: names,
    sealed_secrets: names.length === 0 ? null : sealer.seal(JSON.stringify(secret), secretsContext(monitorId)),
  };
}
