import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { headersOf } from '../receiver/headers.ts';
import { senders } from '../testing-senders.ts';
import type { Sender, SentHeaders } from '../testing-senders.ts';
import { keyOf } from './secret.ts';
import { refusalOf } from './verify.ts';

/* What we take for signed, beside what the senders' own libraries sign and take. */

type Form = keyof typeof senders;
const forms = Object.entries(senders) as [Form, Sender][];
const other = Buffer.alloc(32, 7);

const weAccept = (form: Form, body: Uint8Array, headers: SentHeaders): boolean => {
  const signing = { signature: form, custom: null, keys: [keyOf(form, senders[form].secret), other] } as const;
  return refusalOf(signing, { headers: headersOf(Object.entries(headers).flat()), body }, Date.now()) === null;
};

const texts = fc.oneof(
  fc.string({ unit: 'binary', size: 'medium' }),
  fc.string({ unit: 'grapheme', size: 'medium' }),
  fc.json(),
);

for (const [form, { sign, accepts, signed, signsEmpty }] of forms) {
  void t.test(`what the library of ${form} signs we take, whatever the body`, async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (body) => {
        if (body === '' && !signsEmpty) return true;
        const headers = await sign(body, Date.now());
        return weAccept(form, Buffer.from(body), headers) && (await accepts(body, headers));
      }),
      { examples: [['']] },
    );
  });

  void t.test(
    `bytes that are no text are not taken for the text that the library of ${form} makes of them`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), async (bytes) => {
          const text = Buffer.from(bytes).toString('utf8');
          const headers = await sign(text, Date.now());
          return weAccept(form, bytes, headers) === Buffer.from(text).equals(bytes);
        }),
        { examples: [[new Uint8Array([0xff])], [new Uint8Array([0xc3, 0x28])], [new Uint8Array([0xef, 0xbb, 0xbf])]] },
      );
    },
  );

  void t.test(`what we take for signed by ${form} its library takes too`, async (t) => {
    const counts = { taken: 0, refused: 0 };
    const damage = fc.record({
      header: fc.constantFrom(...signed),
      at: fc.nat({ max: 120 }),
      cut: fc.nat({ max: 3 }),
      put: fc.oneof(
        fc.constant(''),
        fc.string({ unit: fc.constantFrom(...Array.from('0aA9fF=+/,.: v1t-')), maxLength: 4 }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1 }),
        fc.option(damage),
        // Not so near the end of its time that it would be over when the library looks.
        fc.oneof(fc.integer({ min: -400, max: 240 }), fc.integer({ min: 301, max: 400 })),
        async (body, change, ageSeconds) => {
          const given = await sign(body, Date.now() - ageSeconds * 1_000);
          const value = change === null ? '' : (given[change.header] ?? '');
          const headers =
            change === null
              ? given
              : {
                  ...given,
                  [change.header]: (
                    value.slice(0, change.at) +
                    change.put +
                    value.slice(change.at + change.cut)
                  ).trim(),
                };
          const isTaken = weAccept(form, Buffer.from(body), headers);
          counts[isTaken ? 'taken' : 'refused'] += 1;
          return !isTaken || (await accepts(body, headers));
        },
      ),
      { numRuns: 500 },
    );
    t.ok(counts.taken > 20 && counts.refused > 20, JSON.stringify(counts));
  });

  void t.test(`one flipped bit of what the library of ${form} signed, wherever it is, is noticed`, async (t) => {
    const body = '{"id":"evt_1"}';
    const headers = await sign(body, Date.now());
    t.ok(weAccept(form, Buffer.from(body), headers));
    const missed: string[] = [];
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      if (weAccept(form, flipped(Buffer.from(body), bit), headers)) missed.push(`bit ${bit} of the body`);
    }
    for (const name of signed) {
      const value = Buffer.from(headers[name] ?? '', 'latin1');
      t.ok(value.length > 0, name);
      for (let bit = 0; bit < value.length * 8; bit += 1) {
        const changed = { ...headers, [name]: flipped(value, bit).toString('latin1') };
        if (weAccept(form, Buffer.from(body), changed)) missed.push(`bit ${bit} of ${name}`);
      }
    }
    t.same(missed, []);
  });
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
