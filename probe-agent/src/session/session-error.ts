import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';

/** Whether the control plane was reached and does not accept this probe. */
export const isRefusal = ({ code }: ServiceError): boolean =>
  code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED;

/** Why a session ended, in words: what, where, and what to do about a refusal. */
export function describeSessionError(error: ServiceError, address: string): string {
  if (error.code === status.UNAVAILABLE) return `${address} is not reachable: ${error.details}`;
  if (isRefusal(error)) {
    return `${address} refused this probe: ${error.details}; if it was removed or revoked, register it again with a new join token`;
  }
  return `${address}: ${error.details || error.message}`;
}
