import { protocols, secretFieldsOf } from '@parallax/checks';

/** Columns of an own export, in their order; behind them `has_<name>` of each secret that occurs. */
export const ownColumns = [
  'workspace',
  'name',
  'url',
  'protocol',
  'description',
  'interval_seconds',
  'timeout_seconds',
  'confirmations',
  'consensus_policy',
  'degraded_threshold_ms',
  'is_active',
  'tags',
  'probes',
  'regions',
  'dnsbl_servers',
  'certificate_thresholds_days',
  'domain_thresholds_days',
  'settings',
] as const;

let secretNames: ReadonlySet<string> | undefined;

/** Names of secret settings over all protocols: of every schema, so nobody makes them all at a start. */
export function allSecretNames(): ReadonlySet<string> {
  return (secretNames ??= new Set(protocols.flatMap((protocol) => secretFieldsOf(protocol))));
}
