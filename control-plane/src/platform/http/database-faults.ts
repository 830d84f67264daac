import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
} from 'slonik';

// Faults of a socket on the way to the database (a Unix socket that is gone gives ENOENT).
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

// PostgreSQL's own codes: connection exceptions, insufficient resources, operator intervention, read-only standby,
// and conflicts between transactions, which the same request sent again will not meet.
const statePattern = /^(08...|53...|57...|58030|25006|40001|40P01|55P03)$/;

const faultClasses = [
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
];

/**
 * True when the database is away, restarting, overloaded or gave up a statement: nothing is wrong with the request and the same
 * one may pass later. Looks through causes.
 */
export function isDatabaseAway(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth += 1) {
    const fault = current;
    if (faultClasses.some((faultClass) => fault instanceof faultClass)) return true;
    const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
    if (statePattern.test(code)) return true;
    if (socketCodes.has(code) && isFromSocket(fault)) return true;
    if (
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
        fault.message,
      )
    )
      return true;
    current = fault.cause;
  }
  return false;
}

/** File errors carry ENOENT too; those of a socket name the call `connect`, `read` or `write` or an address. */
function isFromSocket(error: Error): boolean {
  return (
    'address' in error ||
    ('syscall' in error &&
      ['connect', 'read', 'write', 'getaddrinfo'].includes(String(error.syscall)) &&
      !('path' in error))
  );
}
