import { randomBytes, randomInt } from 'node:crypto';
import { timedOut } from '../net/failure.ts';
import type { Session } from '../net/session.ts';
import { communityMessage, readCommunityMessage, readUserMessage, userMessage, type UserReply } from './messages.ts';
import { getPdu, pduTags, type SnmpPdu } from './pdu.ts';
import type { SnmpSettings } from './settings.ts';
import { type Engine, userKeys } from './user-security.ts';

/** Reports of the user-based security model and what they mean: RFC 3414, section 5. */
const reports = {
  '1.3.6.1.6.3.15.1.1.1.0': 'does not offer this level of security',
  '1.3.6.1.6.3.15.1.1.2.0': 'found the message outside its time window',
  '1.3.6.1.6.3.15.1.1.3.0': 'does not know this user',
  '1.3.6.1.6.3.15.1.1.4.0': 'does not take its own name for its own',
  '1.3.6.1.6.3.15.1.1.5.0': 'found the authentication password or protocol wrong',
  '1.3.6.1.6.3.15.1.1.6.0': 'could not decrypt the message',
} as const;
const outsideWindow = '1.3.6.1.6.3.15.1.1.2.0';

/** Asks the agent of a session for one object. Ends the session where it does not answer or refuses the user. */
export async function getObject(session: Session, settings: SnmpSettings): Promise<SnmpPdu> {
  await session.locate();
  return settings.version === '3'
    ? askAsUser(session, settings)
    : askByCommunity(session, settings.version === '1' ? 0 : 1, settings);
}

function askByCommunity(session: Session, version: 0 | 1, settings: SnmpSettings): Promise<SnmpPdu> {
  const requestId = randomInt(1, 0x7fff_ffff);
  return session.ask({
    message: communityMessage(version, settings.community, getPdu(requestId, settings.oid)),
    accept: (bytes) => {
      const pdu = readCommunityMessage(version, bytes);
      return pdu !== undefined && answers(pdu, requestId, settings.oid) ? pdu : undefined;
    },
    silent: timedOut(
      'response_timeout',
      `No answer from ${session.where} in time; an agent does not answer a community that it does not know either.`,
    ),
  });
}

/** Learns the engine, then asks it: RFC 3414, section 4. A message that comes too late by the engine's clock is dated anew once. */
async function askAsUser(session: Session, settings: SnmpSettings): Promise<SnmpPdu> {
  const asked = { username: settings.username ?? '', contextName: settings.context_name };
  const unknown: Engine = { id: Buffer.alloc(0), boots: 0, timeSeconds: 0 };
  const messageId = randomInt(1, 0x7fff_ff00);
  let engine = await session.ask<Engine>({
    message: userMessage({
      ...asked,
      messageId,
      username: '',
      engine: unknown,
      pdu: getPdu(messageId, undefined),
      keys: undefined,
      salt: Buffer.alloc(0),
    }),
    accept: (bytes) => {
      const reply = readUserMessage(bytes, undefined);
      const fits = reply.messageId === messageId && reply.pdu.tag === pduTags.report && reply.engine.id.length > 0;
      return fits ? reply.engine : undefined;
    },
  });
  session.context.trace?.('snmp', `the engine is ${engine.id.toString('hex')}`);
  const keys = userKeys(
    settings.auth_protocol,
    settings.auth_password,
    settings.priv_protocol === 'none' ? undefined : settings.priv_password,
    engine.id,
  );
  for (let round = 1; ; round += 1) {
    const id = messageId + round;
    const replied = await session.ask<UserReply>({
      message: userMessage({
        ...asked,
        messageId: id,
        engine,
        pdu: getPdu(id, settings.oid),
        keys,
        salt: randomBytes(8),
      }),
      accept: (bytes) => {
        const reply = readUserMessage(bytes, keys);
        if (reply.messageId !== id) return undefined;
        if (reply.pdu.tag === pduTags.report) return reply;
        const safe = (keys === undefined || reply.genuine) && (keys?.priv === undefined || reply.encrypted);
        return safe && answers(reply.pdu, id, settings.oid) ? reply : undefined;
      },
    });
    const { pdu, genuine } = replied;
    if (pdu.tag !== pduTags.report) return pdu;
    if (pdu.oid !== outsideWindow || !genuine || round > 1) refused(session, pdu.oid);
    engine = { ...engine, boots: replied.engine.boots, timeSeconds: replied.engine.timeSeconds };
  }
}

/** Whether a response belongs to this request; with an error the bindings may be missing. */
function answers(pdu: SnmpPdu, requestId: number, oid: string): boolean {
  if (pdu.tag !== pduTags.response || pdu.requestId !== requestId) return false;
  return pdu.errorStatus !== 0 || pdu.oid === oid.replace(/^\./, '');
}

function refused(session: Session, oid: string): never {
  const meaning = Object.entries(reports).find(([known]) => known === oid)?.[1] ?? 'refused the message';
  session.fail('snmp_credentials', `The agent ${session.where} ${meaning}.`);
}
