import { createPrivateKey, createSign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import tls from 'node:tls';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  certificateFacts,
  createAuthority,
  createEd25519Pair,
  createSigningRequest,
  fingerprint,
  firstUri,
  openAuthority,
  probeIdOfUri,
  probeUri,
  signEd25519,
  signRenewal,
  verifyEd25519,
  verifyRenewal,
  verifySigningRequest,
} from './index.ts';

const nowMs = Date.now();
const dayMs = 86_400_000;
const material = await createAuthority(nowMs);
const authority = await openAuthority(material);

t.test('a server certificate answers to its names and leads to the authority of the fingerprint', async (t) => {
  const server = await authority.issueServerCertificate(['127.0.0.1', '[::1]', 'probes.example.org'], nowMs);
  const certificate = new X509Certificate(server.certificatePem);
  for (const name of ['parallax-control-plane', 'localhost', 'probes.example.org'])
    t.ok(certificate.checkHost(name), name);
  for (const ip of ['127.0.0.1', '::1']) t.ok(certificate.checkIP(ip), ip);
  t.notOk(certificate.checkHost('elsewhere.example.org'));

  const listener = tls.createServer({ key: server.keyPem, cert: server.chainPem });
  t.teardown(() => listener.close());
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const socket = tls.connect({
    port: (listener.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: 'parallax-control-plane',
    ca: authority.certificatePem,
  });
  await once(socket, 'secureConnect');
  t.ok(socket.authorized, 'the authority is enough to trust the server');
  const root = socket.getPeerX509Certificate()?.issuerCertificate;
  t.equal(root === undefined ? '' : fingerprint(root.raw), authority.fingerprint, 'the chain shows the authority');
  socket.destroy();
});

t.test('a probe whose wall clock is two years off can still check who it talks to, and learn the time', async (t) => {
  for (const offMs of [2 * 365 * dayMs, -2 * 365 * dayMs]) {
    // This machine's clock is the one that is wrong: the installation was made at the true time.
    const trueMs = Date.now() + offMs;
    const elsewhere = await openAuthority(await createAuthority(trueMs));
    const server = await elsewhere.issueServerCertificate([], trueMs);
    const listener = tls.createServer({ key: server.keyPem, cert: server.chainPem });
    t.teardown(() => listener.close());
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const servername = 'parallax-control-plane';
    const socket = tls.connect({ port, host: '127.0.0.1', servername, ca: elsewhere.certificatePem });
    await once(socket, 'secureConnect');
    t.ok(socket.authorized);
    socket.destroy();
  }
});

t.test(
  "a probe's certificate carries its identity, the requested key and 30 days, and nothing of the request's names",
  async (t) => {
    const request = await createSigningRequest();
    const issued = await authority.issueProbeCertificate(17, request.csrDer, nowMs);
    const facts = certificateFacts(issued.certificateDer);
    t.equal(probeIdOfUri(facts.uri), 17);
    t.equal(facts.publicKeyFingerprint, (await verifySigningRequest(request.csrDer)).publicKeyFingerprint);
    t.ok(Math.abs(facts.notAfterMs - (nowMs + 30 * dayMs)) < 2_000);
    t.ok(facts.notBeforeMs <= nowMs);
    const certificate = new X509Certificate(Buffer.from(issued.certificateDer));
    t.ok(certificate.checkPrivateKey(createPrivateKey(request.keyPem)));
    t.equal(certificate.subject, 'CN=probe-17');
    t.notOk(certificate.ca);
    t.ok(await authority.hasIssued(issued.certificateDer));
    t.equal(facts.serial, certificate.serialNumber.toLowerCase());
  },
);

t.test('a certificate of another authority is not taken for ours, even when it has the same name', async (t) => {
  const other = await openAuthority(await createAuthority(nowMs));
  const request = await createSigningRequest();
  const foreign = await other.issueProbeCertificate(17, request.csrDer, nowMs);
  t.notOk(await authority.hasIssued(foreign.certificateDer));
  t.notOk(await authority.hasIssued(Buffer.from('nonsense')));
  await t.rejects(
    openAuthority({ ...material, certificateDer: other.certificateDer }),
    /not the one of its certificate/,
  );
});

t.test('a signing request that was altered, is of another kind of key or is none at all is refused', async (t) => {
  const { csrDer } = await createSigningRequest();
  const altered = Uint8Array.from(csrDer);
  altered[altered.length - 1] = (altered[altered.length - 1] ?? 0) ^ 1;
  await t.rejects(verifySigningRequest(altered), /signature of the signing request/);
  const otherName = Buffer.from(csrDer);
  otherName[otherName.indexOf('parallax-probe')] = 0x71;
  await t.rejects(verifySigningRequest(otherName), /signature of the signing request/);
  await t.rejects(verifySigningRequest(Buffer.concat([csrDer, Buffer.of(0)])), /not a signing request/);
  await t.rejects(verifySigningRequest(Buffer.from('hello')), /not a signing request/);
  await t.rejects(verifySigningRequest(new Uint8Array(5_000)), /5000 bytes/);
  await t.rejects(verifySigningRequest(new Uint8Array()), /not a signing request/);
  await t.rejects(authority.issueProbeCertificate(1, altered, nowMs), /signature/);
});

t.test('a renewal is proven by the key of the held certificate and covers request and time', async (t) => {
  const held = await createSigningRequest();
  const { certificateDer } = await authority.issueProbeCertificate(3, held.csrDer, nowMs);
  const next = await createSigningRequest();
  const proof = signRenewal(held.keyPem, next.csrDer, 1_234n);
  t.ok(verifyRenewal(certificateDer, next.csrDer, 1_234n, proof));
  t.notOk(verifyRenewal(certificateDer, next.csrDer, 1_235n, proof), 'another time');
  t.notOk(verifyRenewal(certificateDer, held.csrDer, 1_234n, proof), 'another request');
  t.notOk(
    verifyRenewal(certificateDer, next.csrDer, 1_234n, signRenewal(next.keyPem, next.csrDer, 1_234n)),
    'another key',
  );
  t.notOk(verifyRenewal(certificateDer, next.csrDer, 1_234n, new Uint8Array(64)));
  const der = createSign('sha256').update('parallax-renew\n').update(next.csrDer).update('1234').sign(held.keyPem);
  t.notOk(verifyRenewal(certificateDer, next.csrDer, 1_234n, der), 'a proof in DER form is not the agreed one');
});

t.test('a request can be made for the key that is already held', async (t) => {
  const first = await createSigningRequest();
  const again = await createSigningRequest(first.keyPem);
  t.equal(again.keyPem, first.keyPem);
  t.equal(
    (await verifySigningRequest(again.csrDer)).publicKeyFingerprint,
    (await verifySigningRequest(first.csrDer)).publicKeyFingerprint,
  );
});

t.test('batches are signed and verified with raw keys', async (t) => {
  const pair = createEd25519Pair();
  const content = Buffer.from('parallax-batch\nthe batch');
  const signature = signEd25519(pair.seed, content);
  t.ok(verifyEd25519(pair.publicKey, content, signature));
  t.notOk(verifyEd25519(pair.publicKey, Buffer.from('parallax-batch\nthe bitch'), signature));
  t.notOk(verifyEd25519(createEd25519Pair().publicKey, content, signature));
  t.notOk(verifyEd25519(pair.publicKey, content, signature.subarray(1)));
  t.notOk(verifyEd25519(pair.publicKey.subarray(1), content, signature));
  t.notOk(verifyEd25519(new Uint8Array(32).fill(255), content, signature), 'a key that is no point of the curve');
});

t.test('identities are read strictly', async (t) => {
  t.equal(probeIdOfUri(probeUri(2_147_483_647)), 2_147_483_647);
  for (const uri of [
    undefined,
    '',
    'spiffe://parallax/probe/',
    'spiffe://parallax/probe/0',
    'spiffe://parallax/probe/07',
    'spiffe://parallax/probe/1/2',
    'spiffe://other/probe/1',
    'spiffe://parallax/probe/2147483648',
    'spiffe://parallax/probe/1 ',
  ]) {
    t.equal(probeIdOfUri(uri), undefined, String(uri));
  }
  t.equal(firstUri('DNS:localhost, URI:spiffe://parallax/probe/4, IP Address:127.0.0.1'), 'spiffe://parallax/probe/4');
  t.equal(firstUri('DNS:"x, URI:spiffe://parallax/probe/4"'), undefined, 'a name that pretends to be two');
  t.equal(firstUri(undefined), undefined);
  t.throws(() => certificateFacts(Buffer.from('no')), /not a certificate/);
});
