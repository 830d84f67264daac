import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import { mailsFor, mailsTo, mailThat, newPerson, watch } from '../harness/alerted.ts';
import { pidOf, signalChild, untilRestarted } from '../harness/children.ts';
import { eventually } from '../harness/processes.ts';
import { startProduct, untilReady } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

t.test('a control plane that is killed between DOWN and the mail sends it once', { timeout: 300_000 }, async (t) => {
  let isHeld = false;
  let begun = 0;
  const waiting: (() => void)[] = [];
  const mails = await mailServer(t, {
    // Before anything of the mail is taken.
    onRcptTo: (_address, _session, done) => {
      begun += 1;
      if (isHeld) waiting.push(() => done());
      else done();
    },
  });
  const target = await startTarget();
  // What is down for the second time within minutes flaps, and is not told of each time.
  const blog = await startTarget();
  t.teardown(() => Promise.all([target.close(), blog.close()]));
  const product = await startProduct({ PARALLAX_LOCAL_PROBES: '1', ...mailsTo(mails) });
  t.teardown(() => product.stop());
  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  const told = (pattern: RegExp) =>
    mailsFor(mails, ada.email).filter(({ parsed }) => pattern.test(parsed.subject ?? '')).length;
  const kill = async (): Promise<void> => {
    const former = pidOf(product, 'control-plane');
    t.ok(signalChild(product, 'control-plane', 'SIGKILL'));
    await untilRestarted(product, 'control-plane', former);
    await untilReady(product, product.supervisor);
  };

  await t.test('killed while the status is known and nobody told', async (t) => {
    const shop = await watch(ada, 'Shop', target.url);
    await target.shut();
    await eventually('DOWN', async () => (await shop.status()) === 'DOWN', { timeoutMs: 60_000, everyMs: 20 });
    await kill();
    await mailThat(mails, ada.email, /Shop is down/);
    t.equal(told(/is down/), 1);
    await target.reopen();
    await mailThat(mails, ada.email, /Shop is up again/);
  });

  await t.test('killed while the mail server has it in its hands', async (t) => {
    await watch(ada, 'Blog', blog.url);
    isHeld = true;
    const before = begun;
    await blog.shut();
    await eventually('the mail to be under way', async () => begun > before, { timeoutMs: 60_000, everyMs: 20 });
    await kill();
    isHeld = false;
    for (const release of waiting.splice(0)) release();
    // It was claimed for a minute by the one that died.
    await mailThat(mails, ada.email, /Blog is down/, 3);
    await delay(2_000);
    t.equal(told(/Blog is down/), 1);
    t.equal(told(/is down/), 2, 'once of each outage');
    await blog.reopen();
    await mailThat(mails, ada.email, /Blog is up again/, 4);
    t.equal(told(/is up again/), 2);
  });
});
