export { mailVerification } from './gateway.ts';
export { findTokenAccount, issueToken, sweepTokens, takeToken, tokensInLastHour, voidTokens } from './queries.ts';
export type { TokenAccount } from './queries.ts';
