import type { CreateMonitor } from '@parallax/api-contract';
import { newMonitor } from '../../values.ts';
import type { PlainValues, PlanLimits } from '../../values.ts';

/**
 * Texts that stand in for secrets which are not in the file while the rest is judged; none is kept. One for each kind of rule: what a secret
 * of MTProxy is (which other types take as well), and what an NKey's seed is.
 */
const standIn = `ee${'00'.repeat(16)}${Buffer.from('stand-in.example').toString('hex')}`;

/**
 * A new monitor some of whose secrets are not in the file. It is judged by all rules of creation, with stand-ins where it is not valid without
 * them, and is paused: it could not be checked as it was meant.
 * @param lacking names of the secret settings that it had
 * @throws Problem as `newMonitor`
 */
export function newMonitorLacking(
  body: CreateMonitor,
  name: string,
  limits: PlanLimits,
  lacking: readonly string[],
): PlainValues {
  if (lacking.length === 0) return newMonitor(body, name, limits);
  const paused = { ...body, is_active: false };
  try {
    return newMonitor(paused, name, limits);
  } catch {
    // What is really wrong is said by the second judgement.
    return withStandIns(paused, name, limits, lacking);
  }
}

function withStandIns(body: CreateMonitor, name: string, limits: PlanLimits, lacking: readonly string[]): PlainValues {
  const given = body.settings ?? {};
  const stood = standInsFor(lacking);
  // A certificate is judged together with its key only, for which nothing can stand in.
  const { client_certificate: certificate, ...others } = given;
  const withheld = lacking.includes('client_key') && typeof certificate === 'string' ? certificate : undefined;
  const settings = { ...(withheld === undefined ? given : others), ...stood };
  const values = newMonitor({ ...body, settings }, name, limits);
  const secret = Object.entries(values.settings.secret).filter(([field]) => !Object.hasOwn(stood, field));
  return {
    ...values,
    settings: {
      open: { ...values.settings.open, ...(withheld === undefined ? {} : { client_certificate: withheld }) },
      secret: Object.fromEntries(secret),
    },
  };
}

/** A password stands in for a private key too: types that take both take either. */
function standInsFor(lacking: readonly string[]): Record<string, string> {
  const texts = lacking.filter(
    (field) =>
      !['client_key', 'private_key', 'passphrase', 'nkey_seed', 'jwt', 'secret_headers', 'keyed_lists'].includes(field),
  );
  const stood = Object.fromEntries(texts.map((field) => [field, standIn]));
  return lacking.includes('private_key') ? { ...stood, password: standIn } : stood;
}
