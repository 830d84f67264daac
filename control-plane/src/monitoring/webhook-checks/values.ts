import { invalidInput, mostPatternRules } from '@parallax/api-contract';
import type { CreateWebhookCheck, PayloadRule, SignatureForm, UpdateWebhookCheck } from '@parallax/api-contract';
import { patternProblem } from '@parallax/checks';
import type { CheckValues } from './queries.ts';
import type { CheckRow } from './row.ts';
import { makeSecret, secretProblem } from './signatures/secret.ts';

/** Values of a check, whose secret is yet to be sealed: null keeps none, undefined keeps the one that is sealed. */
export type PlainValues = Omit<CheckValues, 'sealed_secret' | 'sealed_previous' | 'previous_until'> & {
  readonly secret: string | null | undefined;
  /** The secret was made here, so it is shown, once. */
  readonly isMade: boolean;
};

/**
 * The values of a new check.
 * @throws Problem `invalid_input` when signature, secret and header do not fit together, or a rule is no pattern
 */
export function createdValues(body: CreateWebhookCheck): PlainValues {
  const { signature } = body;
  const custom = body.custom_hmac ?? null;
  requireCustom(signature, custom);
  requirePatterns(body.rules);
  return {
    name: body.name,
    description: body.description ?? '',
    tags: body.tags ?? [],
    signature,
    custom_hmac: custom,
    expected_interval_seconds: body.expected_interval_seconds ?? null,
    grace_period_seconds: body.grace_period_seconds,
    rules: body.rules,
    ...newSecret(signature, body.secret ?? undefined),
  };
}

/**
 * The values of a check after an update: an absent key keeps, `null` clears.
 * @param openSecret the present secret, looked at only where the signature changes
 * @throws Problem `invalid_input` when signature, secret and header do not fit together, or a rule is no pattern
 */
export function updatedValues(row: CheckRow, body: UpdateWebhookCheck, openSecret: () => string | null): PlainValues {
  const signature = body.signature ?? row.signature;
  // What belongs to another signature ends with it, unless it was sent again.
  const custom = body.custom_hmac === undefined && signature !== 'custom_hmac' ? null : body.custom_hmac;
  const customNow = custom === undefined ? row.custom_hmac : custom;
  requireCustom(signature, customNow);
  requirePatterns(body.rules ?? []);
  const interval = body.expected_interval_seconds;
  return {
    name: body.name ?? row.name,
    description: body.description === undefined ? row.description : (body.description ?? ''),
    tags: body.tags === undefined ? row.tags : (body.tags ?? []),
    signature,
    custom_hmac: customNow,
    expected_interval_seconds: interval === undefined ? row.expected_interval_seconds : interval,
    grace_period_seconds: body.grace_period_seconds ?? row.grace_period_seconds,
    rules: body.rules ?? row.rules,
    ...changedSecret(row, signature, body.secret, openSecret),
  };
}

type Secret = Pick<PlainValues, 'secret' | 'isMade'>;

function changedSecret(
  row: CheckRow,
  signature: SignatureForm,
  given: string | undefined,
  openSecret: () => string | null,
): Secret {
  if (given !== undefined || signature === 'none') return newSecret(signature, given);
  if (signature === row.signature) return { secret: undefined, isMade: false };
  const present = openSecret();
  return present === null || secretProblem(signature, present) !== undefined
    ? newSecret(signature, undefined)
    : { secret: undefined, isMade: false };
}

/**
 * A secret for a form: the given one, or a new one.
 * @throws Problem `invalid_input` when the given one does not fit
 */
export function newSecret(signature: SignatureForm, given: string | undefined): Secret {
  if (given === undefined) {
    return signature === 'none' ? { secret: null, isMade: false } : { secret: makeSecret(signature), isMade: true };
  }
  const problem = secretProblem(signature, given);
  if (problem !== undefined) throw invalidInput('body', '/secret', 'secret', problem);
  return { secret: given, isMade: false };
}

/** Judged here and not with the body's shape, so that only who may change the check has patterns judged. */
function requirePatterns(rules: readonly PayloadRule[]): void {
  const patterns = rules.flatMap(({ op, value }, index) => (op === 'matches' ? [{ text: String(value), index }] : []));
  if (patterns.length > mostPatternRules) throw new Error('the rules of a webhook check were not counted');
  for (const { text, index } of patterns) {
    const problem = patternProblem({ pattern: text, ignore_case: false });
    if (problem !== undefined) throw invalidInput('body', `/rules/${index}/value`, 'custom', problem);
  }
}

function requireCustom(signature: SignatureForm, custom: CheckRow['custom_hmac']): void {
  if (signature === 'custom_hmac' && custom === null) {
    throw invalidInput(
      'body',
      '/custom_hmac',
      'required',
      'the signature custom_hmac needs custom_hmac: which header, and how it is written',
    );
  }
  if (signature !== 'custom_hmac' && custom !== null) {
    throw invalidInput('body', '/custom_hmac', 'unexpected', `the signature ${signature} takes no custom_hmac`);
  }
}

/** The names of the fields in which a check differs, for the audit log; the secret by its name only. */
export function changedFields(row: CheckRow, values: PlainValues): string[] {
  const { secret, isMade: _, ...plain } = values;
  const fields = Object.entries(plain).flatMap(([name, value]) =>
    JSON.stringify(row[name as keyof typeof plain]) === JSON.stringify(value) ? [] : [name],
  );
  return secret === undefined || (secret === null && row.sealed_secret === null) ? fields : [...fields, 'secret'];
}
