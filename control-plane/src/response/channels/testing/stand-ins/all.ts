import type { StandIn } from '../stand-in.ts';
import { webPush } from './web-push.ts';
import { webhook } from './webhook.ts';

/** Every stand-in: one line each. */
export const standIns: readonly StandIn[] = [webhook, webPush];
