import ipaddr from 'ipaddr.js';
import { cleanAddresses, isGlobalAddress } from './peer-address.ts';

/** Where one machine's connections come from. */
export type AddressSource = {
  /** As its operator states it, for a machine behind NAT: this counts, whatever else is known. */
  readonly stated: readonly string[];
  /** As its kernel routes them. */
  readonly routed: readonly string[];
  /** Where its connection to the control plane comes from. */
  readonly seen: string | null;
};

/**
 * The addresses that somebody must allow who is checked by these machines. Where a machine has a public address of a family, its private ones of that family
 * reach nobody and are left out. Loopback is told only where there is nothing else: then everything runs on one machine without a network.
 */
export function allowList(sources: readonly AddressSource[]): string[] {
  const all = cleanAddresses(sources.flatMap(addressesOf), Number.POSITIVE_INFINITY).sort();
  const beyond = all.filter((address) => rangeOf(address) !== 'loopback');
  return beyond.length > 0 ? beyond : all;
}

function addressesOf({ stated, routed, seen }: AddressSource): string[] {
  const ofSession = seen === null ? [] : [seen];
  if (stated.length > 0) return [...stated, ...ofSession.filter(isGlobalAddress)];
  const known = cleanAddresses([...routed, ...ofSession], Number.POSITIVE_INFINITY).filter(
    (address) => rangeOf(address) !== 'linkLocal',
  );
  return [4, 6].flatMap((family) => {
    const ofFamily = known.filter((address) => address.includes(':') === (family === 6));
    const global = ofFamily.filter(isGlobalAddress);
    return global.length > 0 ? global : ofFamily;
  });
}

function rangeOf(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).range() : '';
}
