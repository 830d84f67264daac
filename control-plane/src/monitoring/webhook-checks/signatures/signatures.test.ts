import { createHmac } from 'node:crypto';
import type { CustomHmac, SignatureForm } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { headersOf } from '../receiver/headers.ts';
import { published } from '../testing.ts';
import { keyOf, makeSecret, secretProblem } from './secret.ts';
import { refusalOf, toleranceSeconds } from './verify.ts';
import type { Signing } from './verify.ts';

type Example = {
  readonly secret: string;
  readonly seconds: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};
const examples: [SignatureForm, Example][] = Object.entries(published).map(([form, example]) => [
  form as SignatureForm,
  example,
]);

const other = Buffer.alloc(32, 7);
const signing = (signature: SignatureForm, secret: string, custom: CustomHmac | null = null): Signing => ({
  signature,
  custom,
  keys: [keyOf(signature, secret), other],
});
const deliveryOf = (headers: Readonly<Record<string, string>>, body: string | Uint8Array) => ({
  headers: headersOf(Object.entries(headers).flat()),
  body: Buffer.from(body),
});
const judged = (form: SignatureForm, example: Example, change: Partial<Example> = {}) => {
  const { secret, seconds, body, headers } = { ...example, ...change };
  return refusalOf(signing(form, secret), deliveryOf(headers, body), seconds * 1_000);
};

for (const [form, example] of examples) {
  void t.test(`the published example of ${form} is accepted, and nothing near it`, async (t) => {
    t.equal(judged(form, example), null);
    t.equal(
      refusalOf(
        { ...signing(form, example.secret), keys: [other, keyOf(form, example.secret)] },
        deliveryOf(example.headers, example.body),
        example.seconds * 1_000,
      ),
      null,
      'by the secret before it',
    );
    const wrong = form === 'standard' ? makeSecret('standard') : `${example.secret}x`;
    t.equal(judged(form, example, { secret: wrong }), 'signature_mismatch', 'another secret');
    t.equal(judged(form, example, { body: `${example.body} ` }), 'signature_mismatch', 'a byte more');
    fc.assert(
      fc.property(fc.nat({ max: example.body.length * 8 - 1 }), (bit) => {
        const body = Buffer.from(example.body);
        body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const delivery = deliveryOf(example.headers, body);
        return refusalOf(signing(form, example.secret), delivery, example.seconds * 1_000) === 'signature_mismatch';
      }),
    );
  });

  void t.test(`of ${form}, no header may be missing, doubled or damaged`, async (t) => {
    for (const [name, value] of Object.entries(example.headers)) {
      const { [name]: _, ...without } = example.headers;
      t.match(judged(form, example, { headers: without }), /_(missing|malformed)$/, `without ${name}`);
      t.match(judged(form, example, { headers: { ...without, [name]: '' } }), /_(missing|malformed)$/, `empty ${name}`);
      const twice = {
        headers: headersOf([...Object.entries(example.headers).flat(), name, value]),
        body: Buffer.from(example.body),
      };
      t.match(refusalOf(signing(form, example.secret), twice, example.seconds * 1_000), /_malformed$/, `${name} twice`);
      const joined = { ...without, [name]: `${value}, ${value}` };
      if (form !== 'stripe' && name !== 'webhook-id')
        t.match(judged(form, example, { headers: joined }), /_malformed$/, `${name} twice in one`);
      // One character, wherever it stands, of a signature or a time.
      fc.assert(
        fc.property(
          fc.nat({ max: value.length - 1 }),
          fc.constantFrom('0', '9', 'a', 'Z', ' ', '=', '.'),
          (at, put) => {
            const changed = value.slice(0, at) + put + value.slice(at + 1);
            if (changed.trim() === value) return true;
            const headers = { ...without, [name]: changed };
            // What a scheme passes over may change.
            if (form === 'stripe' && at >= value.indexOf(',v0=')) return true;
            return judged(form, example, { headers }) !== null;
          },
        ),
      );
    }
  });

  void t.test(`nothing that claims to be of ${form} throws or is accepted`, async () => {
    const names = Object.keys(example.headers);
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 200 }), { minLength: names.length, maxLength: names.length }),
        fc.string(),
        (values, body) => {
          const headers = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
          return judged(form, example, { headers, body }) !== null;
        },
      ),
    );
  });
}

for (const [form, example] of examples.filter(([form]) => form !== 'github')) {
  void t.test(`${form} is taken for ${toleranceSeconds} s before and behind its time stamp`, async (t) => {
    const at = (off: number) => judged(form, example, { seconds: example.seconds + off });
    t.equal(at(toleranceSeconds), null);
    t.equal(at(-toleranceSeconds), null);
    t.equal(at(toleranceSeconds + 1), 'timestamp_too_old');
    t.equal(at(-toleranceSeconds - 1), 'timestamp_in_future');
  });
}

void t.test('a signature of another length, case or encoding is none', async (t) => {
  const { github, standard, slack } = published;
  const hex = github.headers['x-hub-signature-256'].slice('sha256='.length);
  for (const value of [
    hex,
    `sha1=${hex}`,
    `SHA256=${hex}`,
    `sha256=${hex.toUpperCase()}`,
    `sha256=${hex.slice(2)}`,
    `sha256=${hex}00`,
    `sha256=${Buffer.from(hex, 'hex').toString('base64')}`,
    `sha256= ${hex}`,
    'sha256=',
  ]) {
    t.equal(judged('github', github, { headers: { 'x-hub-signature-256': value } }), 'signature_malformed', value);
  }
  const base64 = standard.headers['webhook-signature'].slice('v1,'.length);
  for (const value of [
    base64,
    `v2,${base64}`,
    `v1=${base64}`,
    `v1,${base64.slice(0, -1)}`,
    `v1,${base64.replace('+', '-')}`,
    `v1,${Buffer.from(base64, 'base64').toString('hex')}`,
    // The same bytes with bits behind the last one.
    `v1,${base64.slice(0, -2)}F=`,
  ]) {
    const headers = { ...standard.headers, 'webhook-signature': value };
    t.equal(judged('standard', standard, { headers }), 'signature_malformed', value);
  }
  const headers = { ...slack.headers, 'x-slack-signature': slack.headers['x-slack-signature'].replace('v0=', 'v1=') };
  t.equal(judged('slack', slack, { headers }), 'signature_malformed');
});

void t.test('several signatures in one header: one of them is enough', async (t) => {
  const { standard, stripe } = published;
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const right = standard.headers['webhook-signature'];
  const listed = (list: string) =>
    judged('standard', standard, { headers: { ...standard.headers, 'webhook-signature': list } });
  t.equal(listed(`${wrong} ${right}`), null);
  t.equal(listed(`${right} ${wrong}`), null);
  t.equal(listed(`v1a,whatever ${right}`), null, 'of another version beside it');
  t.equal(listed(wrong), 'signature_mismatch');
  t.equal(listed(Array.from({ length: 17 }, () => right).join(' ')), 'signature_malformed', 'not without end');
  const [time = '', v1 = ''] = stripe.headers['stripe-signature'].split(',');
  const ofStripe = (list: string) => judged('stripe', stripe, { headers: { 'stripe-signature': list } });
  t.equal(ofStripe(`${time},v1=${'0'.repeat(64)},${v1}`), null);
  t.equal(ofStripe(`${time}, ${v1}`), 'signature_malformed', 'with spaces, which its own libraries do not take');
  t.equal(ofStripe(`${time},${time},${v1}`), 'timestamp_malformed');
  t.equal(ofStripe(v1), 'timestamp_missing');
  t.equal(ofStripe(`t=-1,${v1}`), 'timestamp_malformed');
  t.equal(ofStripe(`t=1e9,${v1}`), 'timestamp_malformed');
});

void t.test('Svix sends the same under other names', async (t) => {
  const { standard } = published;
  const headers = Object.fromEntries(
    Object.entries(standard.headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
  );
  t.equal(judged('standard', standard, { headers }), null);
});

void t.test('an HMAC of its own, in any algorithm and spelling', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('sha256' as const, 'sha512' as const, 'sha1' as const),
      fc.constantFrom('hex' as const, 'base64' as const),
      fc.constantFrom('', 'sha=', 'v1:'),
      fc.uint8Array({ maxLength: 300 }),
      fc.boolean(),
      (algorithm, encoding, prefix, body, isUpper) => {
        const custom: CustomHmac = { header: 'X-Mine', encoding, prefix, algorithm, id_header: null };
        const digest = createHmac(algorithm, 'a long secret').update(body).digest(encoding);
        const value = prefix + (isUpper && encoding === 'hex' ? digest.toUpperCase() : digest);
        const by = signing('custom_hmac', 'a long secret', custom);
        const delivery = (text: string) => deliveryOf({ 'x-mine': text }, body);
        return (
          refusalOf(by, delivery(value), 0) === null &&
          refusalOf(by, delivery(`${value}a`), 0) === 'signature_malformed' &&
          (prefix === '' || refusalOf(by, delivery(digest), 0) === 'signature_malformed')
        );
      },
    ),
  );
  t.equal(refusalOf({ ...signing('none', 'x'), keys: [other, other] }, deliveryOf({}, 'x'), 0), null, 'none at all');
});

void t.test('secrets fit their form', async (t) => {
  for (const form of ['standard', 'github', 'stripe', 'slack', 'custom_hmac'] as const) {
    t.equal(secretProblem(form, makeSecret(form)), undefined, form);
    t.not(makeSecret(form), makeSecret(form));
  }
  for (const secret of [
    'whsec_',
    'whsec_c2hvcnQ=',
    'not base64 at all!',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
  ]) {
    t.type(secretProblem('standard', secret), 'string', secret);
  }
  t.equal(secretProblem('standard', Buffer.alloc(24, 1).toString('base64')), undefined, 'without its prefix');
  t.equal(secretProblem('stripe', 'whsec_abc'), undefined, 'as it is, for whom it is no base64');
  t.type(secretProblem('github', 'short'), 'string');
});
