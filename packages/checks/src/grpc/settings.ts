import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { credentialFields, headerFields, withHiddenCredentials } from '../http/fields.ts';
import { addressFields, clientPairProblem, trustFields } from '../net/connection-settings.ts';

/** Characters of all names and values together. Node aborts the process over a block of headers that is larger than 64 KiB. */
const maxMetadata = 8 * 1024;

const metadata = lazily(() =>
  headerFields()
    .refine((all) => Object.entries(all).flat().join('').length <= maxMetadata, 'Metadata has at most 8 KiB in all.')
    .refine((all) => Object.keys(all).every((name) => !/^(grpc-|content-type$|host$|http2-settings$)/i.test(name)), {
      message:
        'Metadata that begins with grpc-, content-type, host and http2-settings are written by the check itself.',
    }),
);

/** Settings of `grpc`. */
export const grpcSettings = lazily(() =>
  z
    .strictObject({
      /** Name of the service that is asked about; empty: the server as a whole. */
      service: z
        .string()
        .max(512)
        .regex(/^\P{Cc}*$/u, 'A service name has no control characters.')
        .default(''),
      /** Metadata of the call. */
      headers: metadata().default({}),
      /** Metadata whose values are secret. */
      secret_headers: metadata().default({}),
      ...credentialFields(),
      ...trustFields(),
      ...addressFields(),
    })
    .superRefine((all, context) => {
      const say = (path: string, message: string | undefined) =>
        message !== undefined && context.addIssue({ code: 'custom', path: [path], message });
      if (all.username !== undefined && all.bearer_token !== undefined)
        say('bearer_token', 'Give a user name or a bearer token, not both.');
      say('client_key', clientPairProblem(all));
    })
    .overwrite(withHiddenCredentials),
);
export type GrpcSettings = z.infer<ReturnType<typeof grpcSettings>>;
