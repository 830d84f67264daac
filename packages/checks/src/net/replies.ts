import type { ErrorCode } from '../outcome.ts';
import { lineReader, maxReplyLines, type Reply, replyLine } from './lines.ts';
import type { Session } from './session.ts';

/** How replies are read. */
export type ReplyForm = {
  readonly code: ErrorCode;
  readonly protocol: string;
  /** Lines between the first and the last may say anything (RFC 959, 4.2); in SMTP each begins with the code (RFC 5321, 4.2.1). */
  readonly freely: boolean;
};

/** The next reply of SMTP or FTP, of one line or several. */
export async function hearReply(session: Session, waitingFor: string, form: ReplyForm): Promise<Reply> {
  const { code: breach, protocol, freely } = form;
  const read = lineReader(breach);
  const lines: string[] = [];
  let code: number | undefined;
  while (lines.length < maxReplyLines) {
    const line = await session.hear(waitingFor, read);
    const found = replyLine(line);
    const fits = found !== undefined && (code ?? found.code) === found.code;
    if (!fits && (code === undefined || !freely))
      session.fail(breach, `The answer is not ${protocol}: "${session.show(line)}".`);
    lines.push(fits ? found.text : line);
    code ??= found?.code;
    if (!fits || !found.isLast) continue;
    const reply = { code: found.code, lines };
    session.received(textOf(reply));
    return reply;
  }
  return session.fail(breach, `A reply of more than ${maxReplyLines} lines came.`);
}

export function textOf(reply: Reply): string {
  return `${reply.code} ${reply.lines.join(' ')}`;
}
