import t from 'tap';
import { z } from 'zod';
import { limitsWith } from '../../../identity/plans/index.ts';
import { senders } from '../testing-senders.ts';
import type { SentHeaders } from '../testing-senders.ts';
import { webhookChecksApi } from '../testing.ts';

/*
 * Deliveries that are signed by the senders' own libraries, over HTTP: taken, and refused after one flipped bit at every position of body, signature, time
 * stamp and identifier. Every bit of each position is tried beside verify.ts, without the network.
 */

const api = await webhookChecksApi(t, {
  context: { limits: limitsWith({ webhook_delivery: 100_000, webhook_refused: 100_000 }) },
});

for (const [form, { secret, sign, accepts, signed }] of Object.entries(senders)) {
  void t.test(`deliveries that the library of ${form} signs are taken, and not with one bit flipped`, async (t) => {
    const check = await api.check({ signature: form, secret });
    const send = async (body: Buffer<ArrayBuffer>, headers: SentHeaders): Promise<number> =>
      (await api.send(check.slug, { body, headers })).status;
    const body = Buffer.from('{"id":"evt_7"}');
    const headers = await sign(body.toString(), Date.now());
    t.ok(await accepts(body.toString(), headers), 'which verifies it itself');

    const damaged: [string, Buffer<ArrayBuffer>, SentHeaders][] = [];
    for (let at = 0; at < body.length; at += 1) damaged.push([`body at ${at}`, flipped(body, at), headers]);
    for (const name of signed) {
      const value = Buffer.from(headers[name] ?? '', 'latin1');
      for (let at = 0; at < value.length; at += 1) {
        damaged.push([`${name} at ${at}`, body, { ...headers, [name]: flipped(value, at).toString('latin1') }]);
      }
    }
    t.ok(damaged.length > 80, `${damaged.length} of them`);
    const wrong: string[] = [];
    for (const [name, ofBody, ofHeaders] of damaged) {
      const status = await send(ofBody, ofHeaders);
      if (status !== 404) wrong.push(`${name}: ${status}`);
    }
    t.same(wrong, []);
    t.match((await api.checks('GET', `/${check.id}`)).body, { status: 'new', last_received_at: null });

    // Signed again, since a slow machine may have taken longer than a time stamp is good for.
    t.equal(await send(body, await sign(body.toString(), Date.now())), 202);
    for (const text of ['Привет, 🌍 \u{FEFF}\u{0}\u{1F}', '%00=+&a=b', 'x'.repeat(100_000)]) {
      t.equal(await send(Buffer.from(text), await sign(text, Date.now())), 202, JSON.stringify(text.slice(0, 20)));
    }
    t.match((await api.checks('GET', `/${check.id}`)).body, { status: 'up' });
    const events = await api.checks('GET', `/${check.id}/events?accepted=true`);
    const bodies = z.array(z.object({ body: z.string() })).parse(events.body['events']);
    t.ok(bodies.some((event) => event.body === body.toString()));
  });
}

/** With the lowest bit of one byte turned: a printable character stays one, so that the header arrives. */
function flipped(bytes: Buffer<ArrayBuffer>, at: number): Buffer<ArrayBuffer> {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
