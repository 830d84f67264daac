import { SettingsError } from '@parallax/settings';
import t from 'tap';
import { channelSettings } from './channel-settings.ts';

const none = {
  channelBaseUrls: undefined,
  smtpUrl: undefined,
  teamChatClientId: undefined,
  teamChatClientSecret: undefined,
  teamChatUrl: 'https://slack.com',
};

void t.test('base URLs are taken for channels of fixed services only', async (t) => {
  const baseUrls = { pushover: 'https://push.example.com' };
  t.match(channelSettings({ ...none, channelBaseUrls: baseUrls }), { baseUrls, hasMailServer: false });
  t.match(channelSettings({ ...none, smtpUrl: 'smtp://mail.example.com' }), {
    baseUrls: {},
    hasMailServer: true,
  });
  t.throws(() => channelSettings({ ...none, channelBaseUrls: { webhook: 'https://x.example' } }), SettingsError);
  t.throws(() => channelSettings({ ...none, channelBaseUrls: { pigeon: 'https://x.example' } }), /pigeon/);
});

void t.test('an app of the team chat is whole or absent', async (t) => {
  const both = { teamChatClientId: 'id', teamChatClientSecret: 'secret', teamChatUrl: 'https://chat.example.com/' };
  t.match(channelSettings({ ...none, ...both }), {
    hasTeamChatApp: true,
    teamChatApp: { clientId: 'id', clientSecret: 'secret', url: 'https://chat.example.com' },
  });
  t.equal(channelSettings(none).hasTeamChatApp, false);
  t.throws(() => channelSettings({ ...none, teamChatClientId: 'id' }), SettingsError);
  t.throws(() => channelSettings({ ...none, teamChatClientSecret: 'secret' }), SettingsError);
});
