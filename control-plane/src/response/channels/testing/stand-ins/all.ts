import type { StandIn } from '../stand-in.ts';
import { bark } from './bark.ts';
import { chat } from './chat.ts';
import { email } from './email.ts';
import { dingtalk } from './dingtalk.ts';
import { feishu } from './feishu.ts';
import { jiraServiceManagement, opsgenie } from './genie.ts';
import { githubIssue } from './github-issue.ts';
import { gitlabAlert } from './gitlab-alert.ts';
import { googleChat } from './google-chat.ts';
import { gotify } from './gotify.ts';
import { homeAssistant } from './home-assistant.ts';
import { ilert } from './ilert.ts';
import { incidentIo } from './incident-io.ts';
import { line } from './line.ts';
import { matrix } from './matrix.ts';
import { mattermost } from './mattermost.ts';
import { messenger } from './messenger.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { pagertree } from './pagertree.ts';
import { pushbullet } from './pushbullet.ts';
import { pushover } from './pushover.ts';
import { rocketchat } from './rocketchat.ts';
import { signal } from './signal.ts';
import { teamChat } from './team-chat.ts';
import { signl4 } from './signl4.ts';
import { splunkOncall } from './splunk-oncall.ts';
import { squadcast } from './squadcast.ts';
import { teams } from './teams.ts';
import { sms, voice } from './twilio.ts';
import { vk } from './vk.ts';
import { vonage } from './vonage.ts';
import { webPush } from './web-push.ts';
import { webhook } from './webhook.ts';
import { wecom } from './wecom.ts';
import { whatsapp } from './whatsapp.ts';
import { zulip } from './zulip.ts';

/** Every stand-in: one line each. */
export const standIns: readonly StandIn[] = [
  webhook,
  bark,
  chat,
  email,
  googleChat,
  gotify,
  line,
  matrix,
  mattermost,
  messenger,
  ntfy,
  pushbullet,
  pushover,
  rocketchat,
  signal,
  sms,
  voice,
  teamChat,
  teams,
  vonage,
  webPush,
  whatsapp,
  zulip,
  dingtalk,
  feishu,
  githubIssue,
  gitlabAlert,
  homeAssistant,
  ilert,
  incidentIo,
  jiraServiceManagement,
  opsgenie,
  pagerduty,
  pagertree,
  signl4,
  splunkOncall,
  squadcast,
  vk,
  wecom,
];
