import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { createAuthority, openAuthority } from '@parallax/pki';
import { leakGuard } from '@parallax/testkit';
import t from 'tap';
import { readIdentity, writeIdentity } from '../state/identity.ts';
import { testControlPlane } from '../testing/control-plane.ts';
import { scratchFolder } from '../testing/results.ts';
import { parseAddress } from './authority.ts';
import { parseJoinToken } from './join-token.ts';
import { register } from './register.ts';
import { renew } from './renew.ts';
import { certificateState } from './renewal-time.ts';

leakGuard(t);

void t.test('a join token is read strictly and never repeated in an error', (t) => {
  const fingerprint = 'AB'.repeat(32);
  t.strictSame(parseJoinToken(` id.0123456789abcdef.${fingerprint}\n`), {
    credential: 'id.0123456789abcdef',
    fingerprint: fingerprint.toLowerCase(),
  });
  for (const wrong of [
    '',
    'a.b',
    'id.short.' + fingerprint,
    `id.0123456789abcdef.${fingerprint.slice(1)}`,
    `id.0123456789abcdef.${fingerprint}.x`,
  ]) {
    const problem = parseJoinToken(wrong);
    t.type(problem, 'string');
    t.notMatch(problem, '0123456789abcdef');
  }
  t.end();
});

void t.test('addresses', (t) => {
  t.strictSame(parseAddress('[::1]:9444'), { host: '::1', port: 9444 });
  t.strictSame(parseAddress('control.example.org:9444'), { host: 'control.example.org', port: 9444 });
  for (const wrong of ['control', 'https://control:9444', 'a:0', 'a:99999', '::1:9444'])
    t.throws(() => parseAddress(wrong), /host:port/);
  t.end();
});

void t.test('registering keeps an identity that only its owner can read', async (t) => {
  const controlPlane = await testControlPlane(t);
  const stateDir = path.join(scratchFolder(t), 'deep', 'state');
  const identity = await register({
    stateDir,
    controlPlane: controlPlane.enrolmentAddress,
    joinToken: controlPlane.joinToken(),
    publicAddresses: ['198.51.100.7'],
  });
  t.match(identity, {
    probeId: 7,
    name: 'berlin-1',
    region: 'eu-central',
    sessionAddress: controlPlane.sessionAddress,
  });
  t.match(controlPlane.enrolments[0], { token: 'token1.the-secret-of-this-token', publicAddresses: ['198.51.100.7'] });
  t.equal(controlPlane.enrolments[0]?.signingPublicKey.length, 32);
  t.equal(statSync(path.join(stateDir, 'identity.json')).mode & 0o777, 0o600);
  t.same(await readIdentity(stateDir), identity);
  await t.rejects(
    register({
      stateDir,
      controlPlane: controlPlane.enrolmentAddress,
      joinToken: controlPlane.joinToken(),
      publicAddresses: [],
    }),
    /belongs to the probe "berlin-1" already/,
  );
});

void t.test('an answer that was lost can be asked for again with the same keys', async (t) => {
  const controlPlane = await testControlPlane(t);
  const stateDir = scratchFolder(t);
  const options = { stateDir, controlPlane: controlPlane.enrolmentAddress, publicAddresses: [] };
  await t.rejects(
    register({ ...options, joinToken: controlPlane.joinToken('another-secret-of-a-token') }),
    /used already.*join-token create/s,
  );
  await t.rejects(
    register({ ...options, joinToken: controlPlane.joinToken('another-secret-of-a-token') }),
    /used already/,
  );
  const [first, second] = controlPlane.enrolments;
  t.same(first?.signingPublicKey, second?.signingPublicKey, 'the same token comes with the same keys');
  await register({ ...options, joinToken: controlPlane.joinToken() });
  t.notSame(controlPlane.enrolments[2]?.signingPublicKey, first?.signingPublicKey, 'another token with others');
});

void t.test('nothing is sent to whoever shows another authority', async (t) => {
  const genuine = await testControlPlane(t);
  const other = await testControlPlane(t);
  const attempt = register({
    stateDir: scratchFolder(t),
    controlPlane: other.enrolmentAddress,
    joinToken: genuine.joinToken(),
    publicAddresses: [],
  });
  await t.rejects(attempt, /another authority.*intercepting/s);
  t.equal(other.enrolments.length, 0);
});

void t.test('a control plane that is not there, or no TLS, is named with what to look at', async (t) => {
  const controlPlane = await testControlPlane(t);
  const options = { stateDir: scratchFolder(t), joinToken: controlPlane.joinToken(), publicAddresses: [] };
  await t.rejects(
    register({ ...options, controlPlane: '127.0.0.1:1' }),
    /127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
  );
});

void t.test('a certificate is renewed by proof of possession, also when it has run out', async (t) => {
  const controlPlane = await testControlPlane(t);
  const stateDir = scratchFolder(t);
  controlPlane.certificateDays = 1;
  const identity = await register({
    stateDir,
    controlPlane: controlPlane.enrolmentAddress,
    joinToken: controlPlane.joinToken(),
    publicAddresses: [],
  });
  const dayMs = 86_400_000;
  t.equal(certificateState(identity.certificateDer, Date.now()), 'good');
  t.equal(certificateState(identity.certificateDer, Date.now() + (dayMs * 2) / 3), 'due');
  t.equal(certificateState(identity.certificateDer, Date.now() + 2 * dayMs), 'expired');
  controlPlane.certificateDays = 30;
  const renewed = await renew(identity, Date.now());
  t.equal(controlPlane.renewals.length, 1);
  t.equal(certificateState(renewed.certificateDer, Date.now() + dayMs - 1_000), 'good', 'for a day');
  t.equal(certificateState(renewed.certificateDer, Date.now() + dayMs * 1.26), 'due', 'and six hours at most');
  t.equal(certificateState(renewed.certificateDer, Date.now() + 29 * dayMs), 'due');
  await writeIdentity(stateDir, renewed);
  t.same(await readIdentity(stateDir), renewed);
  const foreign = await openAuthority(await createAuthority(Date.now()));
  await t.rejects(
    renew({ ...identity, authorityDer: foreign.certificateDer }, Date.now()),
    /cannot be reached|certificate/,
  );
});

void t.test('a damaged identity is refused with what to do', async (t) => {
  const stateDir = scratchFolder(t);
  const { writeFileSync } = await import('node:fs');
  writeFileSync(path.join(stateDir, 'identity.json'), '{"version":1');
  await t.rejects(readIdentity(stateDir), /damaged; move the folder away/);
  t.equal(readFileSync(path.join(stateDir, 'identity.json'), 'utf8'), '{"version":1', 'and left as it is');
});
