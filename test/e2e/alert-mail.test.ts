import t from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import { mailsFor, mailsTo, mailThat, newPerson, watch, webhookReceiver } from '../harness/alerted.ts';
import { startProduct } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

t.test('a new account is told by mail', { timeout: 180_000 }, async (t) => {
  const mails = await mailServer(t);
  const hook = await webhookReceiver(t);
  const target = await startTarget();
  t.teardown(() => target.close());
  const product = await startProduct({ PARALLAX_LOCAL_PROBES: '1', ...mailsTo(mails) });
  t.teardown(() => product.stop());
  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  const shop = await watch(ada, 'Shop', target.url);
  const t0 = Date.now();
  await target.shut();
  const down = await mailThat(mails, ada.email, /down/i, 1);
  t.comment(Date.now() - t0);
  t.comment(down.parsed.subject, down.parsed.text);
  await target.reopen();
  const up = await mailThat(mails, ada.email, /up/i, 2);
  t.comment(up.parsed.subject, up.parsed.text);
});
