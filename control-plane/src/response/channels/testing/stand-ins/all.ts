import type { StandIn } from '../stand-in.ts';
import { webhook } from './webhook.ts';

/** Every stand-in: one line each. */
export const standIns: readonly StandIn[] = [webhook];
