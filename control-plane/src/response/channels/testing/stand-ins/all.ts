import type { StandIn } from '../stand-in.ts';
import { bark } from './bark.ts';
import { chat } from './chat.ts';
import { googleChat } from './google-chat.ts';
import { gotify } from './gotify.ts';
import { line } from './line.ts';
import { matrix } from './matrix.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { pushbullet } from './pushbullet.ts';
import { pushover } from './pushover.ts';
import { rocketchat } from './rocketchat.ts';
import { signal } from './signal.ts';
import { teams } from './teams.ts';
import { sms, voice } from './twilio.ts';
import { vonage } from './vonage.ts';
import { webhook } from './webhook.ts';
import { whatsapp } from './whatsapp.ts';
import { zulip } from './zulip.ts';

/** Every stand-in: one line each. */
export const standIns: readonly StandIn[] = [
  webhook,
  bark,
  chat,
  googleChat,
  gotify,
  line,
  matrix,
  mattermost,
  ntfy,
  pushbullet,
  pushover,
  rocketchat,
  signal,
  sms,
  voice,
  teams,
  vonage,
  whatsapp,
  zulip,
];
