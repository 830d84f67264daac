export { durableCredentials } from './gateway.ts';
export type { CredentialKind } from './kind.ts';
