import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { silentLogger } from '../ports.ts';
import { configurationWithLateToken } from '../settings.ts';
import { testControlPlane } from '../testing/control-plane.ts';
import { EnrolmentError } from './enrolment-error.ts';
import { firstRegistration } from './first-registration.ts';
import { register } from './register.ts';

/** Fails so many times with an error, and then gives an identity. */
function failing(times: number, error: Error) {
  const tokens: (string | undefined)[] = [];
  return {
    tokens,
    register: async (joinToken: string | undefined) => {
      tokens.push(joinToken);
      if (tokens.length <= times) throw error;
      return 'identity';
    },
  };
}

const noWait = { logger: silentLogger, mostMs: 1, random: () => 0 };
const never = new AbortController().signal;

void t.test(
  'a control plane that is away is asked again until it is there, with the token as it is then',
  async (t) => {
    const { register, tokens } = failing(3, new EnrolmentError('away', { isTemporary: true }));
    let reads = 0;
    const readJoinToken = () => `token ${(reads += 1)}`;
    t.equal(await firstRegistration({ ...noWait, readJoinToken, register, signal: never }), 'identity');
    t.same(tokens, ['token 1', 'token 2', 'token 3', 'token 4']);
  },
);

void t.test('what a person has to mend ends it at once', async (t) => {
  const { register, tokens } = failing(1, new EnrolmentError('this join token was used already'));
  const outcome = firstRegistration({ ...noWait, readJoinToken: () => 'token', register, signal: never });
  await t.rejects(outcome, /used already/);
  t.equal(tokens.length, 1);
});

void t.test('it can be stopped while it waits', async (t) => {
  const stop = new AbortController();
  const { register } = failing(Infinity, new EnrolmentError('away', { isTemporary: true }));
  const warn = () => stop.abort();
  const outcome = await firstRegistration({
    readJoinToken: () => 'token',
    register,
    signal: stop.signal,
    logger: { ...silentLogger, warn },
    mostMs: 3_600_000,
  });
  t.equal(outcome, undefined);
});

void t.test('the file of the token may come after the agent, empty at first, and the control plane too', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-first-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const controlPlane = await testControlPlane(t);
  const file = path.join(folder, 'token');
  const stateDir = path.join(folder, 'state');
  const env = { PARALLAX_PROBE_JOIN_TOKEN_FILE: file, PARALLAX_PROBE_STATE_DIR: stateDir };
  const { settings, readJoinToken } = configurationWithLateToken(env, {});
  t.equal(settings.stateDir, stateDir, 'the other settings are read without it');

  // What happens between the tries: the file is made, then filled; the third try meets nobody who listens.
  const reasons: string[] = [];
  let address = '127.0.0.1:1';
  const warn = ({ reason }: { reason?: string }) => {
    reasons.push(reason ?? '');
    if (reasons.length === 1) writeFileSync(file, '');
    if (reasons.length === 2) writeFileSync(file, `${controlPlane.joinToken()}\n`);
    if (reasons.length === 3) address = controlPlane.enrolmentAddress;
  };
  const identity = await firstRegistration({
    ...noWait,
    readJoinToken,
    register: (joinToken = '') => register({ stateDir, controlPlane: address, joinToken, publicAddresses: [] }),
    signal: never,
    logger: { ...silentLogger, warn },
  });
  t.equal(identity?.name, 'berlin-1');
  t.match(reasons, [/JOIN_TOKEN_FILE: cannot read/, /JOIN_TOKEN_FILE.*does not fit/, /cannot be reached/]);
  t.notMatch(reasons.join(), 'the-secret-of-this-token');
});

void t.test('a token that is given directly is read with everything else, and so is one that is given twice', (t) => {
  const direct = configurationWithLateToken({ PARALLAX_PROBE_JOIN_TOKEN: 'a.b.c' }, {});
  t.equal(direct.settings.joinToken, 'a.b.c');
  t.equal(direct.readJoinToken(), 'a.b.c');
  t.equal(configurationWithLateToken({}, {}).readJoinToken(), undefined);
  const twice = { PARALLAX_PROBE_JOIN_TOKEN: 'a.b.c', PARALLAX_PROBE_JOIN_TOKEN_FILE: '/nowhere' };
  t.throws(() => configurationWithLateToken(twice, {}), /both set/);
  t.end();
});
