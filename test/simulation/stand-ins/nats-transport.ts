import { current } from '../engine/current.ts';
import { BrokerClient } from '../models/broker/client.ts';
import type { ClientOptions } from '../models/broker/client.ts';

/* What the product uses of `@nats-io/transport-node`, on the modelled broker. */

let inboxes = 0;

export function connect(options: ClientOptions): Promise<BrokerClient> {
  return BrokerClient.connect(current().broker, options);
}

export function createInbox(prefix = '_INBOX'): string {
  inboxes += 1;
  return `${prefix}.${inboxes}`;
}

export function credsAuthenticator(): undefined {
  return undefined;
}
