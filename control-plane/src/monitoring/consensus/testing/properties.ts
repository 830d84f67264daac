import { agreementProperties } from './properties/agreement.ts';
import { incrementProperties } from './properties/increment.ts';
import { inputProperties } from './properties/inputs.ts';
import { orderProperties } from './properties/order.ts';
import type { Property } from './properties/property.ts';
import { uptimeProperties } from './properties/uptime.ts';
import { voteProperties } from './properties/votes.ts';

export type { Property, Runs } from './properties/property.ts';

/** Everything that holds of consensus, by name: the only list. */
export const properties: readonly Property[] = [
  ...orderProperties,
  ...voteProperties,
  ...agreementProperties,
  ...inputProperties,
  ...incrementProperties,
  ...uptimeProperties,
];
