import { emailSchema, newPasswordSchema, presentPasswordSchema, totpCodeSchema } from '@parallax/api-contract';
import { whyTooCommon } from '../auth/index.ts';
import type { FormProblem } from './words.ts';

/** What a form of the page asks for. */
export type InviteForm = {
  readonly token: string;
  readonly action: 'show' | 'register' | 'sign-in';
  /** As it was entered, to be shown again. */
  readonly email: string;
  readonly password: string;
  readonly code: string;
};

/** Reads a form. The token of a whole link that was pasted is what stands in its fragment. @param body as a browser sends it */
export function inviteFormOf(body: Buffer | undefined): InviteForm {
  const fields = new URLSearchParams(body?.toString('utf8') ?? '');
  const field = (name: string): string => fields.get(name) ?? '';
  const action = field('action');
  return {
    token: field('token').trim().split('#').at(-1) ?? '',
    action: action === 'register' || action === 'sign-in' ? action : 'show',
    email: field('email').slice(0, 254),
    password: field('password'),
    code: field('code').trim(),
  };
}

/** What a valid form says. */
export type Credentials = {
  readonly email: string;
  readonly password: string;
  readonly totp_code?: string;
  readonly recovery_code?: string;
};

/** The credentials of a form, or the first thing that is wrong with them. */
export function credentialsOf(form: InviteForm): Credentials | FormProblem {
  const email = emailSchema.safeParse(form.email);
  if (!email.success) return 'email';
  if (form.action === 'register') {
    const password = newPasswordSchema.safeParse(form.password);
    if (!password.success || whyTooCommon(password.data, email.data) !== undefined) return 'password';
    return { email: email.data, password: password.data };
  }
  const password = presentPasswordSchema.safeParse(form.password);
  if (!password.success) return 'missing_password';
  const given = { email: email.data, password: password.data };
  if (form.code === '') return given;
  const totp = totpCodeSchema.safeParse(form.code);
  if (totp.success) return { ...given, totp_code: totp.data };
  return form.code.length > 50 ? 'code' : { ...given, recovery_code: form.code };
}
