/** How somebody shows who they are: what `session.started` in the audit log tells. */
export type Way = 'password' | 'identity_provider_a' | 'identity_provider_b' | 'messenger' | 'passkey';

/** What a second factor may be. */
export type Factor = 'totp' | 'passkey' | 'recovery_code';
