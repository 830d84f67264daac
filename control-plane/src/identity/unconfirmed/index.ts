/** Limits of accounts whose mail address nobody has confirmed. */
export { countTrial, requireConfirmedAddress, requireConfirmedToPublish, requireRoom } from './unconfirmed.gateway.ts';
export { readStanding, standingColumns, standingOf, standingRow } from './unconfirmed.queries.ts';
export { addressUnconfirmed, mayMailOthers, mayNotOwnMore, unconfirmedIntervalSeconds } from './unconfirmed.ts';
export type { AddressRules, AddressStanding } from './unconfirmed.ts';
