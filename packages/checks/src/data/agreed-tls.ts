import { z } from 'zod';

/** `tls` of the databases whose protocol changes to TLS after a beginning in the clear. */
export const agreedTls = {
  /**
   * `auto`: TLS where the server offers it. Who sits in between can take the offer away, so the certificate is not verified either, whatever
   * `verify_tls` says. `starttls`: TLS or a failure. `none`: no TLS.
   */
  tls: z.enum(['none', 'auto', 'starttls']).default('auto'),
};
