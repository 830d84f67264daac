import { ber, BerError, berInteger, berPart, berParts, berTags, readBerInteger, takeBer } from '../net/ber.ts';
import { failed } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import type { Taken } from '../net/talk.ts';

const startTlsOid = '1.3.6.1.4.1.1466.20037';

/** Asks a directory to change to TLS. RFC 4511, section 4.14: an extended request, tag 119, and its response, tag 120. */
export async function askForTls(session: Session): Promise<void> {
  session.say(ber(berTags.sequence, berInteger(1), ber(0x77, ber(0x80, startTlsOid))));
  const wrong = failed('starttls_protocol', `${session.where} does not speak LDAP.`);
  const result = await session.hear('an answer to StartTLS', (received): Taken<number> => {
    try {
      if (received[0] !== berTags.sequence) return { failure: wrong };
      const taken = takeBer(received);
      if (taken === undefined) return undefined;
      const parts = berParts(taken.value.content);
      if (readBerInteger(berPart(parts, 0, berTags.integer)) !== 1) return { failure: wrong };
      const code = berPart(berParts(berPart(parts, 1, 0x78)), 0, berTags.enumerated);
      return { value: readBerInteger(code), used: taken.used };
    } catch (error) {
      if (error instanceof BerError) return { failure: wrong };
      throw error;
    }
  });
  if (result !== 0) session.fail('starttls_refused', `${session.where} refused StartTLS (result ${result}).`);
}
