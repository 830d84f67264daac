// A process that looks for news of status pages and sends them, to be killed. Arguments: URLs of the database as JSON, the sealing key in base64, the port
// of the mail server.
import { quietLog } from '@parallax/testkit';
import { createSealer } from '../../../platform/crypto/seal.ts';
import { openDatabase } from '../../../platform/database/pools.ts';
import type { DatabaseUrls } from '../../../platform/database/pools.ts';
import { smtpMailer } from '../../../platform/mail/mailer.ts';
import { smtpOptions } from '../../../platform/mail/smtp-options.ts';
import { createOutboundClients } from '../../../platform/outbound-http/index.ts';
import { tellNews } from './news/news.job.ts';
import { sendDueNotices } from './sending/sender.job.ts';

const [urls = '', key = '', port = ''] = process.argv.slice(2);
const context = {
  database: await openDatabase(JSON.parse(urls) as DatabaseUrls, { api: 1, worker: 6 }),
  sealer: createSealer(Buffer.from(key, 'base64')),
  publicUrl: 'https://parallax.example',
  mailer: smtpMailer(smtpOptions(`smtp://127.0.0.1:${port}`), {
    name: 'Parallax',
    address: 'noreply@parallax.example',
  }),
  outbound: createOutboundClients({
    allowedPrivateTargets: [],
    deniedListeners: () => [],
    now: Date.now,
    version: '0.0.0',
  }),
  channels: { baseUrls: {}, hasMailServer: true, hasTeamChatApp: false },
  now: Date.now,
};
await tellNews(context, quietLog, null);
for (;;) await sendDueNotices(context, quietLog);
