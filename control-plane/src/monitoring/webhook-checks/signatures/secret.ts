import { randomBytes } from 'node:crypto';
import type { SignatureForm } from '@parallax/api-contract';

const standardPrefix = 'whsec_';
// Standard Webhooks 1.0.0, "Symmetric": between 24 and 64 random bytes.
const standardBytes = { least: 24, most: 64, made: 32 };
const leastCharacters = 8;

/** Makes a secret that fits a form: 256 random bits. */
export function makeSecret(form: SignatureForm): string {
  const bytes = randomBytes(standardBytes.made);
  return form === 'standard' ? standardPrefix + bytes.toString('base64') : bytes.toString('hex');
}

/** What is wrong with a secret for a form, as a sentence; undefined when it fits. */
export function secretProblem(form: SignatureForm, secret: string): string | undefined {
  if (form === 'none') return 'Deliveries that are not signed have no secret.';
  if (form !== 'standard') {
    return secret.length < leastCharacters ? `A secret has at least ${leastCharacters} characters.` : undefined;
  }
  const { least, most } = standardBytes;
  return standardKey(secret) === undefined
    ? `This signature needs whsec_ and base64 of ${least} to ${most} bytes.`
    : undefined;
}

/** The bytes that a form signs with. @throws when the secret does not fit the form: none such is stored */
export function keyOf(form: SignatureForm, secret: string): Uint8Array {
  if (form !== 'standard') return Buffer.from(secret, 'utf8');
  const key = standardKey(secret);
  if (key === undefined) throw new Error('the secret of a webhook check does not fit its signature');
  return key;
}

/** Both the bare base64 and the one with its prefix are in use. */
function standardKey(secret: string): Buffer | undefined {
  const text = secret.startsWith(standardPrefix) ? secret.slice(standardPrefix.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole && key.length >= standardBytes.least && key.length <= standardBytes.most ? key : undefined;
}
