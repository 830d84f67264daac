import { timedOut } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { Ended } from '../net/talk.ts';

/**
 * Waits for the hashing of a password, which cannot be stopped and whose length the server chooses, no longer than the check may take; then
 * ends the conversation as for an answer that did not come.
 */
export function inTime<Value>(session: Session, hashing: Promise<Value>): Promise<Value> {
  const { signal } = session.context;
  return new Promise((resolve, reject) => {
    const abort = () => {
      const message = `The login that ${session.where} asks for did not end in time.`;
      reject(new Ended(timedOut('response_timeout', message)));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    const settle = () => signal.removeEventListener('abort', abort);
    hashing.then(resolve, reject).then(settle, settle);
  });
}
