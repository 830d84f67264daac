import type { Reply } from '../net/lines.ts';
import { hearReply, textOf } from '../net/replies.ts';
import type { Session } from '../net/session.ts';

/** Sends one command of FTP (RFC 959) and reads its answer. `shown` is what a trace says instead of it. */
export function command(session: Session, line: string, shown = line): Promise<Reply> {
  session.sayLine(line, shown);
  return hear(session, `an answer to ${shown.split(' ')[0] ?? shown}`);
}

/** The next reply. 421 means that the server is about to close, whatever was asked. */
export async function hear(session: Session, waitingFor: string): Promise<Reply> {
  const reply = await hearReply(session, waitingFor, { code: 'ftp_protocol', protocol: 'FTP', freely: true });
  if (reply.code === 421) refused(session, 'ended the session', reply);
  return reply;
}

export function refused(session: Session, what: string, reply: Reply): never {
  return session.fail('ftp_unavailable', `The server ${what}: "${session.show(textOf(reply))}".`);
}

/** Tells the server who is there. */
export async function login(session: Session, username: string, password: string): Promise<void> {
  let answer = await command(session, `USER ${username}`);
  if (answer.code === 331) answer = await command(session, `PASS ${password}`, 'PASS …');
  if (answer.code === 230 || answer.code === 202) return session.note('login', 'USER');
  if (answer.code >= 400 && answer.code < 500) refused(session, 'could not check the login', answer);
  session.fail('ftp_login', `The server refused the login: "${session.show(textOf(answer))}".`);
}
