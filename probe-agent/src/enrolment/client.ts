import { Metadata, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { EnrolmentClient } from '@parallax/wire';
import { channelOptions, serverTls } from '../session/channel.ts';
import { EnrolmentError } from './authority.ts';

const callMs = 20_000;

/** The second and third argument of a call. */
type CallParts = [metadata: Metadata, options: { deadline: number }];
type Done<Response> = (error: ServiceError | null, response: Response) => void;

/** Runs one call against an enrolment listener that the given authority vouches for, and closes the connection. */
export async function callEnrolment<Response>(
  address: string,
  authorityDer: Uint8Array,
  call: (client: EnrolmentClient, options: CallParts, done: Done<Response>) => void,
): Promise<Response> {
  const client = new EnrolmentClient(address, serverTls(authorityDer), channelOptions);
  try {
    return await new Promise<Response>((resolve, reject) => {
      call(client, [new Metadata(), { deadline: Date.now() + callMs }], (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  } finally {
    client.close();
  }
}

/** An error of a call in words: what happened, where, and what to do about a refusal. */
export function describeCallError(error: unknown, address: string, adviceWhenRefused: string): EnrolmentError {
  const { code, details, message } = error as Partial<ServiceError>;
  if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED) {
    return new EnrolmentError(`the control plane at ${address} cannot be reached: ${details ?? message}`, {
      cause: error,
      isTemporary: true,
    });
  }
  if (code === undefined) return new EnrolmentError(message ?? String(error), { cause: error });
  return new EnrolmentError(`the control plane at ${address} refused: ${details ?? message}; ${adviceWhenRefused}`, {
    cause: error,
    isTemporary: code === status.RESOURCE_EXHAUSTED,
  });
}
