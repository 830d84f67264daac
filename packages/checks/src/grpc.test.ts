import http2 from 'node:http2';
import grpcJs from '@grpc/grpc-js';
import t from 'tap';
import { grpc } from './grpc.ts';
import { grpcSettings } from './grpc/settings.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { listen, listenRaw, testContext } from './testing/context.ts';
import { site } from './testing/site.ts';
import { startGrpcHealth } from './testing/servers/grpc-health.ts';

const check = (url: string, settings: object = {}, overrides = {}) =>
  runCheck('grpc', { url }, settings, testContext(overrides));

function problem(code: grpcJs.status, details: string): grpcJs.ServiceError {
  return Object.assign(new Error(details), { code, details, metadata: new grpcJs.Metadata() });
}

void t.test('the server and its services are asked for their health', async (t) => {
  const states: Record<string, number> = { '': 1, 'shop.Cart': 1, 'shop.Pay': 2, odd: 0 };
  const { port, url, stop } = await startGrpcHealth(
    t,
    (service) => states[service] ?? problem(grpcJs.status.NOT_FOUND, 'unknown service'),
  );
  const outcome = await check(url);
  t.equal(outcome.outcome, 'ok');
  t.same(Object.keys(outcome.phases), ['dns', 'connect', 'first_byte', 'transfer']);
  t.equal(
    (await check(`127.0.0.1:${port}`, { service: 'shop.Cart' })).outcome,
    'ok',
    'without a scheme it is without TLS',
  );
  t.match(await check(url, { service: 'shop.Pay' }), {
    outcome: 'fail',
    source: 'target',
    code: 'grpc_not_serving',
    message: 'The service says that it is NOT_SERVING.',
    evidence: { status: 200, http_version: '2', details: { health: 'NOT_SERVING', grpc_status: 0 } },
  });
  t.match(await check(url, { service: 'odd' }), {
    code: 'grpc_not_serving',
    evidence: { details: { health: 'UNKNOWN' } },
  });
  t.match(await check(url, { service: 'none' }), {
    outcome: 'fail',
    code: 'grpc_status',
    message: 'The call ended with NOT_FOUND (5): unknown service.',
    evidence: { details: { grpc_status: 5, grpc_message: 'unknown service' } },
  });
  await stop();
  t.match(await check(url), { outcome: 'fail', source: 'target', code: 'connect_refused' });
});

void t.test('credentials go along and come back in no outcome', async (t) => {
  let seen: Record<string, unknown> = {};
  const { url } = await startGrpcHealth(t, (_service, metadata) => {
    seen = metadata.getMap();
    const isRight = seen['authorization'] === 'Bearer canarytoken';
    return isRight ? 1 : problem(grpcJs.status.UNAUTHENTICATED, `not ${JSON.stringify(seen)}`);
  });
  const settings = { bearer_token: 'canarytoken', secret_headers: { 'X-Key': 'keycanary' }, headers: { 'x-own': '1' } };
  t.equal((await check(url, settings)).outcome, 'ok');
  t.match(seen, { 'x-key': 'keycanary', 'x-own': '1', 'user-agent': 'Parallax-test/1' });
  const wrong = await check(url, { ...settings, bearer_token: 'wrongcanary' });
  t.match(wrong, { outcome: 'fail', source: 'target', code: 'grpc_status', message: /UNAUTHENTICATED \(16\)/ });
  t.notMatch(JSON.stringify(wrong), /canary/);
});

void t.test('with TLS the certificate is verified and one can be shown', async (t) => {
  const authority = await issue({ name: 'Authority', authority: true });
  const own = await issue({ name: 'server', addresses: ['127.0.0.1'], by: authority });
  const client = await issue({ name: 'client', by: authority });
  const pair = { cert_chain: Buffer.from(own.cert), private_key: Buffer.from(own.key) };
  const credentials = grpcJs.ServerCredentials.createSsl(Buffer.from(authority.cert), [pair], true);
  const { port } = await startGrpcHealth(t, () => 1, credentials);
  const url = `grpcs://127.0.0.1:${port}`;
  const trust = { ca_certificates: authority.cert };
  const good = await check(url, { ...trust, client_certificate: client.cert, client_key: client.key });
  t.equal(good.outcome, 'ok');
  t.ok((good.phases.tls ?? 0) > 0);
  t.match(await check(url), { outcome: 'fail', code: 'tls_untrusted' });
  t.match(await check(url, trust), { outcome: 'fail', source: 'target', code: 'tls_client_certificate' });
  t.match(await check(`127.0.0.1:${port}`), { outcome: 'fail', source: 'target' }, 'without TLS it gets no answer');
  const web = await site(t, (_request, response) => response.end(), { cert: own.cert, key: own.key });
  t.match(await check(`grpcs://127.0.0.1:${web.port}`, trust), {
    outcome: 'fail',
    code: /grpc_protocol|tls_handshake/,
  });
});

void t.test('what is not gRPC is no answer', async (t) => {
  const answers: Record<string, (stream: http2.ServerHttp2Stream) => void> = {
    'a web page': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end('<html></html>');
    },
    'a proxy without a backend': (stream) => stream.respond({ ':status': 503 }, { endStream: true }),
    'no status': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.end(Buffer.from('00000000020801', 'hex'));
    },
    'no message': (stream) =>
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc+proto', 'grpc-status': '0' },
        { endStream: true },
      ),
    'an endless answer': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      const more = () => {
        while (!stream.destroyed && stream.write(Buffer.alloc(8192)));
      };
      stream.on('drain', more);
      more();
    },
    'a reset': (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM),
    'an end of the session': (stream) => stream.session?.goaway(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM),
    'headers without end': (stream) =>
      stream.respond(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, 'y'.repeat(20)]))),
  };
  for (const [what, answer] of Object.entries(answers)) {
    const web = http2.createServer();
    web.on('sessionError', () => undefined);
    web.on('stream', (stream) => {
      stream.on('error', () => undefined);
      answer(stream);
    });
    const peer = await listen(web);
    const outcome = await check(`127.0.0.1:${peer.port}`, {}, { timeoutMs: 1000 });
    t.match(outcome, { outcome: 'fail', source: 'target', code: 'grpc_protocol' }, what);
    t.match(outcome.message, /^.{10,300}\.$/);
    await peer.stop();
  }
  const last = http2.createServer();
  last.on('stream', (stream) => {
    stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, stream.id);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    setImmediate(() => stream.end(Buffer.from('00000000020801', 'hex')));
  });
  const ending = await listen(last);
  t.teardown(ending.stop);
  t.match(await check(`127.0.0.1:${ending.port}`), { outcome: 'ok' }, 'a server for which this call is the last one');
  const silent = await listenRaw(() => undefined);
  t.teardown(silent.stop);
  t.match(await check(`127.0.0.1:${silent.port}`, {}, { timeoutMs: 150 }), {
    outcome: 'timeout',
    code: 'response_timeout',
  });
});

void t.test('targets and settings that cannot be checked are refused', async (t) => {
  for (const url of ['a.test', 'http://a.test:1', 'a.test:0', 'grpc://a.test', 'grpc://u@a.test:1', '[fe80::1%eth0]:1'])
    t.type(grpc.validateTarget({ url }), 'string', url);
  for (const url of ['a.test:50051', 'grpc://a.test:50051', 'grpcs://a.test', '[::1]:50051'])
    t.equal(grpc.validateTarget({ url }), undefined, url);
  for (const bad of [
    { headers: { 'grpc-timeout': '1S' } },
    { headers: { 'HTTP2-Settings': 'x' } },
    { headers: { TE: 'x' } },
    { headers: { a: 'x'.repeat(8192), b: 'y' } },
    { service: 'a\nb' },
    { service: 'x'.repeat(513) },
    { username: 'a', bearer_token: 'b' },
    { unknown: 1 },
  ])
    t.notOk(grpcSettings().safeParse(bad).success, JSON.stringify(bad).slice(0, 50));
  t.match(await check('10.1.2.3:50051'), { outcome: 'fail', code: 'address_denied' });
});
