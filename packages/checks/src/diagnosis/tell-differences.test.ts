import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { Diagnosis } from './diagnosis.ts';
import { difference } from './difference.ts';
import { readDiagnosis } from './diagnosis-schema.ts';
import { tellDifferences } from './tell-differences.ts';

const seen: Diagnosis = {
  host: 'shop.test',
  port: 443,
  dns: { addresses: ['127.0.0.2'], duration_us: 900, failures: [] },
  connections: [{ address: '127.0.0.2', connect_us: 10_000 }],
};
const tell = (a: Diagnosis, b: Diagnosis) => tellDifferences(difference(a, b), 'probe a', 'probe b');

void t.test('differences are told in sentences, nearest to the cause first', async (t) => {
  const elsewhere = { ...seen, dns: { ...seen.dns, addresses: ['127.0.0.3'] } };
  t.equal(tell(seen, elsewhere), 'probe a got 127.0.0.2, probe b 127.0.0.3.');
  t.equal(tell(seen, seen), 'probe a and probe b saw the same when they looked step by step.');
  const refused: Diagnosis = {
    ...seen,
    connections: [{ address: '127.0.0.2', trouble: { code: 'connect_refused', message: 'Refused.' } }],
  };
  t.equal(tell(seen, refused), 'To 127.0.0.2: probe a got connected, probe b connect_refused.');
  const nameless: Diagnosis = {
    ...seen,
    dns: { addresses: [], duration_us: 900, failures: [{ family: 4, code: 'dns_nxdomain', message: '' }] },
    connections: [],
  };
  t.equal(
    tell(seen, nameless),
    'probe a got 127.0.0.2, probe b no address. probe a was told by the name servers: no failure, probe b IPv4 dns_nxdomain.',
  );
  const path = { address: '127.0.0.2', answered_hops: 1, hops: [] };
  t.equal(
    tell(
      { ...seen, path: { ...path, reached: true, last_answer: '1 127.0.0.2 0.10 ms' } },
      { ...seen, path: { ...path, reached: false, last_answer: '3 192.0.2.1 9.00 ms' } },
    ),
    'Path of probe a: reaches the target; of probe b: last answer from hop 3 192.0.2.1 9.00 ms.',
  );
  const page = (status: number, body: string): Diagnosis => ({
    ...seen,
    answer: { address: '127.0.0.2', status, body },
  });
  t.equal(
    tell(page(200, 'hello'), page(403, 'help\u0007\nyourself')),
    'probe a was answered 200, probe b 403. The body differs from character 3 on: probe a got “lo”, probe b “p yourself”.',
  );
});

const trouble = fc.record({
  code: fc.constantFrom('connect_refused', 'connect_timeout', 'tls_expired', 'http_timeout'),
  message: fc.string({ unit: 'binary', maxLength: 20 }),
});
const address = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1');
const time = fc.integer({ min: 0, max: 4_000_000_000 });
const diagnoses = fc.record(
  {
    host: fc.constant('a.test'),
    port: fc.integer({ min: 0, max: 65_535 }),
    dns: fc.record({
      addresses: fc.uniqueArray(address),
      duration_us: time,
      failures: fc.array(
        trouble.chain((each) => fc.constantFrom(4, 6).map((family) => ({ ...each, family }))),
        { maxLength: 2 },
      ),
    }),
    connections: fc.uniqueArray(
      fc
        .tuple(address, fc.option(time, { nil: undefined }), fc.option(trouble, { nil: undefined }))
        .map(([where, us, bad]) => ({
          address: where,
          ...(us !== undefined && { connect_us: us }),
          ...(bad && { trouble: bad }),
        })),
      { selector: (each) => each.address },
    ),
    path: fc.record({
      address,
      reached: fc.boolean(),
      answered_hops: fc.nat(30),
      last_answer: fc.option(fc.string({ maxLength: 20 })),
      hops: fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 }),
    }),
    tls: fc.record({ address, tls_us: time, trouble }, { requiredKeys: ['address'] }),
    answer: fc.record(
      {
        address,
        status: fc.integer({ min: 100, max: 999 }),
        headers: fc.array(fc.tuple(fc.constantFrom('server', 'date', 'x-a'), fc.string({ maxLength: 10 })), {
          maxLength: 4,
        }),
        body: fc.string({ unit: 'binary', maxLength: 50 }),
        trouble,
      },
      { requiredKeys: ['address'] },
    ),
  },
  { requiredKeys: ['host', 'port', 'dns', 'connections'] },
);

void t.test('whatever two probes send: nothing differs from itself, and sides swap with the probes', async () => {
  fc.assert(
    fc.property(diagnoses, diagnoses, (one, other) => {
      const [a, b] = [readDiagnosis(one), readDiagnosis(other)];
      if (a === undefined || b === undefined) throw new Error('it was not read');
      if (difference(a, a).length > 0) throw new Error('it differs from itself');
      const turned = difference(b, a).map(({ field, a: left, b: right }) => ({ field, a: right, b: left }));
      t.same(
        new Set(turned.map((each) => JSON.stringify(each))),
        new Set(difference(a, b).map((each) => JSON.stringify(each))),
      );
      const told = tell(a, b);
      return told.length <= 1000 && told.isWellFormed() && !/\p{Cc}/u.test(told);
    }),
    { numRuns: 200 },
  );
});

void t.test('what another process calls a diagnosis is bounded, cleaned, or none', async (t) => {
  for (const none of [undefined, null, 7, 'x', [], {}, { ...seen, port: -1 }, { ...seen, dns: { addresses: ['x'] } }])
    t.equal(readDiagnosis(none), undefined);
  t.equal(readDiagnosis({ ...seen, connections: Array.from({ length: 9 }, () => seen.connections[0]) }), undefined);
  t.same(readDiagnosis({ ...seen, newer: 1 }), seen, 'what a newer agent adds is left out');
  const odd = readDiagnosis({
    ...seen,
    connections: [{ address: '127.0.0.2', trouble: { code: '__proto__', message: `a\0\ud800${'x'.repeat(5000)}` } }],
    answer: { address: '127.0.0.2', body: 'x'.repeat(10_000) },
  });
  t.match(odd?.connections[0]?.trouble, { code: 'connect_failed', message: /^a\ufffd\ufffdx+$/ });
  t.equal(odd?.connections[0]?.trouble?.message.length, 2000);
  t.equal(odd?.answer?.body?.length, 8192);
});
