/** A column that holds sealed values. */
export type SealedPlace = {
  readonly table: string;
  /** Primary key, and its type. */
  readonly key: string;
  readonly keyType: 'int4' | 'int8' | 'text' | 'uuid';
  readonly column: string;
  /** For a JSON column: the field that holds the value in base64. */
  readonly field?: string;
  /** What values of version 1 were sealed for; places that are younger have none of them. */
  readonly firstContext?: (key: string) => string;
};

/**
 * Every place of the database where sealed values stand; `installation.key_check` beside them, which names the key that seals. A test
 * compares this list and the next one with the catalog.
 */
export const sealedPlaces: readonly SealedPlace[] = [
  { table: 'sealed_keys', key: 'name', keyType: 'text', column: 'sealed', firstContext: (name) => `key ${name}` },
  {
    table: 'monitors',
    key: 'id',
    keyType: 'int4',
    column: 'sealed_secrets',
    firstContext: (id) => `monitor ${id} secrets`,
  },
  // What waits to be sent, and what was sent within the last day.
  { table: 'outbox', key: 'id', keyType: 'int8', column: 'payload', field: 'sealed' },
  { table: 'mails', key: 'id', keyType: 'uuid', column: 'sealed' },
  { table: 'mail_files', key: 'id', keyType: 'uuid', column: 'sealed' },
  { table: 'idempotency_keys', key: 'id', keyType: 'int8', column: 'answer' },
  { table: 'idempotency_keys', key: 'id', keyType: 'int8', column: 'sealed_digest' },
  { table: 'heartbeats', key: 'id', keyType: 'int4', column: 'sealed_uuid' },
  { table: 'channel_configs', key: 'id', keyType: 'int4', column: 'sealed_settings' },
  { table: 'channel_targets', key: 'id', keyType: 'int8', column: 'unsubscribe_sealed' },
  { table: 'totp_factors', key: 'user_id', keyType: 'int4', column: 'secret' },
  { table: 'webhook_checks', key: 'id', keyType: 'int4', column: 'sealed_slug' },
  { table: 'webhook_checks', key: 'id', keyType: 'int4', column: 'sealed_secret' },
  { table: 'webhook_checks', key: 'id', keyType: 'int4', column: 'sealed_previous' },
  { table: 'scheduled_report_recipients', key: 'id', keyType: 'int4', column: 'unsubscribe_sealed' },
  { table: 'webhooks', key: 'id', keyType: 'int4', column: 'sealed' },
  { table: 'calendar_tokens', key: 'workspace_id', keyType: 'int4', column: 'token_sealed' },
  { table: 'push_subscriptions', key: 'id', keyType: 'int4', column: 'sealed' },
  { table: 'badges', key: 'id', keyType: 'int4', column: 'sealed_key' },
  { table: 'status_page_subscribers', key: 'id', keyType: 'int4', column: 'target_sealed' },
  { table: 'status_page_subscribers', key: 'id', keyType: 'int4', column: 'secret_sealed' },
  { table: 'status_page_subscribers', key: 'id', keyType: 'int4', column: 'token_sealed' },
];

/** Columns of bytes that are not sealed: hashes, public keys, measurements. */
export const unsealedColumns: readonly string[] = [
  'account_tokens.token_hash',
  'alert_links.token_hash',
  'calendar_tokens.token_hash',
  'channel_targets.confirm_hash',
  'channel_targets.unsubscribe_hash',
  'passkeys.credential_id',
  'passkeys.public_key',
  'pending_sign_ins.browser_hash',
  'pending_sign_ins.invite_hash',
  'pending_sign_ins.state_hash',
  'recovery_codes.code_hash',
  'messenger_link_tokens.token_hash',
  'second_factor_failures.key',
  'sign_in_challenges.token_hash',
  'team_chat_requests.browser_hash',
  'team_chat_requests.state_hash',
  'used_proofs.digest',
  'workspace_invites.mailed_hash',
  'workspace_invites.token_hash',
  'access_tokens.token_hash',
  'api_keys.key_hash',
  'badges.key_hash',
  'heartbeats.push_hash',
  'heartbeats.secret_hash',
  'heartbeats.uuid_hash',
  'join_tokens.secret_hash',
  'join_tokens.used_by_key',
  'latency_days.summary',
  'probe_certificates.certificate_der',
  'probes.signing_public_key',
  'push_subscriptions.endpoint_hash',
  'push_subscriptions.keys_hash',
  'rejected_batches.digest',
  'result_days.summary',
  'result_hours.chunk',
  'result_hours.summary',
  'scheduled_report_files.content',
  'scheduled_report_recipients.unsubscribe_hash',
  'sessions.salt',
  'sla_ledger.digest',
  'status_page_files.bytes',
  'status_page_links.address_hash',
  'status_page_links.token_hash',
  'status_page_subscribers.target_hash',
  'status_page_subscribers.token_hash',
  'webhook_checks.slug_hash',
];
