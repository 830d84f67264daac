import { occurs, searchable } from '../http/keyword.ts';
import { type Failure, failed } from '../net/failure.ts';
import { bytesOf } from '../net/payload.ts';
import type { WsSettings } from './settings.ts';

const maxMessages = 1000;
const maxBytes = 4 * 1024 * 1024;

/**
 * Looks through messages for what is expected: true when it is found, false when more may come, a failure when enough was seen. All
 * messages share the time that one keyword may take.
 */
export function messageJudge(settings: WsSettings): (payload: Buffer) => boolean | Failure {
  const { expect } = settings;
  if (expect === undefined) return () => true;
  const bytes = typeof expect === 'string' ? bytesOf(expect, settings.payload_format) : undefined;
  const most = Math.min(maxBytes, searchable(expect));
  let messages = 0;
  let searched = 0;
  return (payload) => {
    const room = most - searched;
    messages += 1;
    searched += payload.length;
    const part = payload.length > room ? payload.subarray(0, room) : payload;
    if (typeof expect === 'string' ? part.includes(bytes ?? '') : occurs(expect, part.toString('utf8'))) return true;
    if (messages < maxMessages && searched < most) return false;
    const seen = messages < maxMessages ? `${most} bytes` : `${maxMessages} messages`;
    return failed('response_mismatch', `The first ${seen} that came back do not hold what is expected.`);
  };
}
