import { limitsWith } from '../identity/plans/index.ts';

/** The limits of the product, but for those of accounts whose address is not confirmed: tests make accounts and read no mail. */
export const testLimits = limitsWith({
  'unconfirmed.monitors': null,
  'unconfirmed.heartbeats': null,
  'unconfirmed.webhook_checks': null,
  'unconfirmed.minimum_interval_seconds': 1,
  'unconfirmed.mailed_addresses': null,
  'unconfirmed.published_pages': null,
  unconfirmed_test: 1_000_000,
});
