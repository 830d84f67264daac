import { randomKeyKind } from '../../../platform/crypto/random-key.ts';

/** Of links in letters that ask for consent, and of those that take it back: 190 random bits. */
export const confirmToken = randomKeyKind('plmc_');
export const unsubscribeToken = randomKeyKind('plmu_');

/** What the token of a target is sealed for. */
export const unsubscribeContext = (userId: number, target: string): string => `unsubscribing ${userId} ${target}`;
