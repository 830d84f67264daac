import { SettingsError } from '@parallax/settings';
import t from 'tap';
import { channelSettings } from './channel-settings.ts';

void t.test('base URLs are taken for channels of fixed services only', async (t) => {
  const baseUrls = { pushover: 'https://push.example.com' };
  t.match(channelSettings({ channelBaseUrls: baseUrls, smtpUrl: undefined }), { baseUrls, hasMailServer: false });
  t.match(channelSettings({ channelBaseUrls: undefined, smtpUrl: 'smtp://mail.example.com' }), {
    baseUrls: {},
    hasMailServer: true,
  });
  t.throws(
    () => channelSettings({ channelBaseUrls: { webhook: 'https://x.example' }, smtpUrl: undefined }),
    SettingsError,
  );
  t.throws(() => channelSettings({ channelBaseUrls: { pigeon: 'https://x.example' }, smtpUrl: undefined }), /pigeon/);
});
