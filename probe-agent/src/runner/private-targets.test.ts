import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { CheckKind } from '@parallax/wire';
import type { PrivateTargets } from '@parallax/wire';
import { createDiagnosisDesk } from '../diagnosis/desk.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { createChecker, userAgent } from './checker.ts';

const options = { allowedPrivate: ['127.0.0.0/8'], sourceAddress: undefined };

t.test('an assignment reaches what both the probe and its workspace are allowed, also by a redirect', async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.socket.localAddress} ${request.url}`);
    if (request.url === '/away') response.writeHead(302, { location: `http://127.0.7.7:${port}/inside` });
    response.end('well');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { check } = createChecker(options);
  const signal = new AbortController().signal;
  const codeOf = async (privateTargets: PrivateTargets | undefined, path = '/') => {
    const url = `http://127.0.5.5:${port}${path}`;
    const given = anAssignment({ monitorId: 1, protocol: 'http', url, timeoutSeconds: 5, privateTargets });
    return (await check(given, { signal })).code;
  };
  t.equal(await codeOf({ all: false, ranges: [] }), 'address_denied');
  t.equal(await codeOf({ all: false, ranges: ['10.0.0.0/8', '192.168.0.0/16'] }), 'address_denied');
  t.equal(await codeOf({ all: false, ranges: ['no range'] }), 'address_denied', 'what cannot be read allows nothing');
  t.same(asked, [], 'nothing was dialled');
  t.equal(await codeOf({ all: false, ranges: ['127.0.5.0/24'] }), undefined);
  t.equal(await codeOf({ all: true, ranges: [] }), undefined);
  t.equal(await codeOf(undefined), undefined, 'an older control plane: the own list alone counts');
  t.equal(await codeOf({ all: false, ranges: ['127.0.5.0/24'] }, '/away'), 'address_denied');
  t.notOk(
    asked.some((one) => one.includes('inside')),
    'the redirect was not followed',
  );
  const capped = createChecker({ ...options, allowedPrivate: [] }).check;
  const wide = anAssignment({
    monitorId: 2,
    protocol: 'http',
    url: `http://127.0.5.5:${port}/`,
    timeoutSeconds: 5,
    privateTargets: { all: false, ranges: ['127.0.0.0/8'] },
  });
  t.equal((await capped(wide, { signal })).code, 'address_denied', 'the own list caps what is allowed');
});

t.test('a diagnosis is under the same policy', async (t) => {
  const desk = createDiagnosisDesk({ ...options, userAgent });
  t.teardown(() => desk.stop());
  const request = {
    requestId: 'r',
    monitorId: 1,
    kind: CheckKind.MANUAL,
    deadlineMs: 2_000,
    assignment: undefined,
    trace: false,
    diagnose: true,
    readChain: false,
    expiresUs: 0n,
  };
  const told = async (privateTargets: PrivateTargets) => {
    const given = anAssignment({ monitorId: 1, protocol: 'tcp', url: '127.0.5.5:9', privateTargets });
    const { diagnosisJson, refused } = await desk.answer(request, given);
    t.equal(refused, '');
    return diagnosisJson.toString();
  };
  t.match(await told({ all: false, ranges: [] }), /not allowed|denied/);
  t.notMatch(await told({ all: true, ranges: [] }), /not allowed|denied/);
});
