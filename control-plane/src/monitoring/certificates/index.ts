import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { certificateRoutes } from './routes.ts';

/** Certificates of monitored targets, looked at when somebody asks. */
export const certificatesCapability: Capability<Context> = {
  name: 'certificates',
  routes: certificateRoutes,
};
