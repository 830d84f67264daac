import type { AnySettings, Channel } from './channel.ts';
import { bark } from './kinds/bark.ts';
import { chat } from './kinds/chat.ts';
import { dingtalk } from './kinds/dingtalk.ts';
import { email } from './kinds/email.ts';
import { feishu } from './kinds/feishu.ts';
import { githubIssue } from './kinds/github-issue.ts';
import { gitlabAlert } from './kinds/gitlab-alert.ts';
import { googleChat } from './kinds/google-chat.ts';
import { gotify } from './kinds/gotify.ts';
import { homeAssistant } from './kinds/home-assistant.ts';
import { ilert } from './kinds/ilert.ts';
import { incidentIo } from './kinds/incident-io.ts';
import { jiraServiceManagement } from './kinds/jira-service-management.ts';
import { line } from './kinds/line.ts';
import { matrix } from './kinds/matrix.ts';
import { mattermost } from './kinds/mattermost.ts';
import { messenger } from './kinds/messenger.ts';
import { ntfy } from './kinds/ntfy.ts';
import { opsgenie } from './kinds/opsgenie.ts';
import { pagerduty } from './kinds/pagerduty.ts';
import { pagertree } from './kinds/pagertree.ts';
import { pushbullet } from './kinds/pushbullet.ts';
import { pushover } from './kinds/pushover.ts';
import { rocketchat } from './kinds/rocketchat.ts';
import { signal } from './kinds/signal.ts';
import { signl4 } from './kinds/signl4.ts';
import { sms } from './kinds/sms.ts';
import { splunkOncall } from './kinds/splunk-oncall.ts';
import { squadcast } from './kinds/squadcast.ts';
import { teamChat } from './kinds/team-chat.ts';
import { teams } from './kinds/teams.ts';
import { vk } from './kinds/vk.ts';
import { voice } from './kinds/voice.ts';
import { vonage } from './kinds/vonage.ts';
import { webPush } from './kinds/web-push.ts';
import { webhook } from './kinds/webhook.ts';
import { wecom } from './kinds/wecom.ts';
import { whatsapp } from './kinds/whatsapp.ts';
import { zulip } from './kinds/zulip.ts';

/** A channel of which only the registry knows the settings. */
export type AnyChannel = Channel;

/** Every way in which people are told: the only list. One line each, in the order of the reference. */
export const channels: readonly AnyChannel[] = [
  known(email),
  known(messenger),
  known(teamChat),
  known(chat),
  known(teams),
  known(webhook),
  known(mattermost),
  known(rocketchat),
  known(googleChat),
  known(matrix),
  known(zulip),
  known(signal),
  known(whatsapp),
  known(line),
  known(webPush),
  known(ntfy),
  known(gotify),
  known(pushover),
  known(pushbullet),
  known(bark),
  known(sms),
  known(voice),
  known(vonage),
  known(pagerduty),
  known(opsgenie),
  known(jiraServiceManagement),
  known(splunkOncall),
  known(incidentIo),
  known(squadcast),
  known(pagertree),
  known(ilert),
  known(signl4),
  known(homeAssistant),
  known(githubIssue),
  known(gitlabAlert),
  known(dingtalk),
  known(feishu),
  known(wecom),
  known(vk),
];

/** Settings go back only to the channel whose schema made them, so what they are is known where it matters. */
function known<Settings extends AnySettings, Content>(channel: Channel<Settings, Content>): AnyChannel {
  return channel as unknown as AnyChannel;
}

const byName = new Map(
  channels.flatMap((channel) => [channel.name, ...(channel.aliases ?? [])].map((name) => [name, channel])),
);

/** Services that keep open what they were told until they are told of its end. */
export const channelsThatKeepOpen: readonly string[] = channels.flatMap(({ name, closes }) => (closes ? [name] : []));

/** The channel of a name or an alias; undefined when there is none. */
export function channelOf(name: string): AnyChannel | undefined {
  return byName.get(name);
}

/** Those of a fixed service, whose address the operator may replace. */
export const replaceableChannels: readonly string[] = channels.flatMap(({ name, baseUrl }) =>
  baseUrl === undefined ? [] : [name],
);
