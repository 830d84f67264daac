import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startExpiryNotices } from './job.ts';

export { certificateEnd, removeExpiries } from './queries.ts';

/** When certificates and domains end, and who is told. */
export const expiryCapability: Capability<Context> = {
  name: 'expiry',
  services: [{ name: 'expiry-notices', role: 'worker', start: startExpiryNotices }],
};
