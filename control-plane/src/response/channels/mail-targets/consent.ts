import type { DeliveryError } from '../delivery-error.ts';

/** What is known of a mail address that alerts may go to. */
export type MailTargetFacts = {
  readonly confirmed: boolean;
  readonly unsubscribed: boolean;
};

/** Why no alert may be sent to a mail address; undefined when one may. */
export type ConsentProblem = { readonly code: DeliveryError['code']; readonly message: string };

/**
 * Whether alerts may be sent to an address: its reader has agreed, or it is the owner's own and verified; and nobody has unsubscribed it since.
 * @param known null: nothing is known of it
 */
export function consentProblem(
  address: string,
  owner: { readonly email: string | null; readonly isVerified: boolean },
  known: MailTargetFacts | null,
): ConsentProblem | undefined {
  if (known?.unsubscribed === true) {
    return { code: 'target_not_confirmed', message: 'The reader of this address has unsubscribed from alerts.' };
  }
  if (known?.confirmed === true) return undefined;
  if (owner.isVerified && owner.email === address) return undefined;
  return {
    code: 'target_not_confirmed',
    message:
      owner.email === address
        ? 'Your own address is not confirmed yet: open the link in the mail that you were sent.'
        : 'The reader of this address has not agreed yet: have them asked (POST /api/v1/alert-channel-configs/mail-confirmations); they must press the button behind the link in that mail.',
  };
}
