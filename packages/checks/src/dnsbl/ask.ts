import type { CheckContext } from '../check.ts';
import { askServer, type Question } from '../dns/query.ts';
import { valueOf } from '../dns/records.ts';
import type { Endpoint } from '../net/dial.ts';
import { readAnswers } from './lists.ts';

/** One list to be asked: its zone, and the name under which it is shown, since a zone may hold the key of a subscription. */
export type List = { readonly label: string; readonly zone: string };

/** What one list said about one subject. */
export type Listing =
  | {
      readonly kind: 'listed';
      readonly label: string;
      readonly subject: string;
      readonly codes: readonly string[];
      readonly reason: string;
    }
  | { readonly kind: 'clean'; readonly label: string; readonly subject: string }
  | {
      readonly kind: 'failed';
      readonly label: string;
      readonly subject: string;
      readonly reason: string;
      readonly late: boolean;
    };

/** What is looked up: how a person writes it, how it stands before the zone, and the entries that no list and that every list has (RFC 5782, 2.1, 2.2, 2.3 and 5). */
export type Subject = {
  readonly shown: string;
  readonly label: string;
  readonly isDomain: boolean;
  readonly neverListed: string;
  readonly alwaysListed: readonly string[];
};

/** Whether a list answers its test entry, and why not. */
export type Proof =
  | { readonly isAlive: true }
  | { readonly isAlive: false; readonly reason: string; readonly late: boolean };

/** RFC 1035, 2.3.4, without the final dot. */
const maxName = 253;

/**
 * Asks one list; never rejects. A failure of the list is told apart from its having no entry.
 * @param proofOf whether the list answers its test entry; asked where it has no entry for the subject
 */
export async function askList(
  list: List,
  subject: Subject,
  ignored: readonly string[],
  server: Endpoint,
  context: CheckContext,
  proofOf: (list: List, subject: Subject) => Promise<Proof>,
): Promise<Listing> {
  const head = { label: list.label, subject: subject.shown };
  const entry = `${subject.label}.${list.zone}`;
  if (entry.length > maxName)
    return { ...head, kind: 'failed', reason: 'makes a name that is too long for DNS', late: false };
  const answered = await addressesOf(entry, server, context);
  if (!answered.ok) return { ...head, kind: 'failed', reason: answered.reason, late: answered.late };
  const verdict = readAnswers(answered.values, ignored);
  if (verdict.kind === 'failed') return { ...head, kind: 'failed', reason: verdict.reason, late: false };
  if (verdict.kind === 'clean') {
    const proof = await proofOf(list, subject);
    return proof.isAlive
      ? { ...head, kind: 'clean' }
      : { ...head, kind: 'failed', reason: proof.reason, late: proof.late };
  }
  const [never, reason] = await Promise.all([
    addressesOf(`${subject.neverListed}.${list.zone}`, server, context),
    reasonOf(entry, server, context),
  ]);
  // A list that was given up often answers everything; without knowing, a listing is believed.
  if (never.ok && never.values.length > 0)
    return { ...head, kind: 'failed', reason: 'lists everything that it is asked for', late: false };
  return { ...head, kind: 'listed', codes: verdict.codes, reason: reason.replaceAll(list.zone, list.label) };
}

type Addresses =
  | { readonly ok: true; readonly values: readonly string[] }
  | { readonly ok: false; readonly reason: string; readonly late: boolean };

/** The addresses that a name has now. */
export async function addressesOf(name: string, server: Endpoint, context: CheckContext): Promise<Addresses> {
  const question: Question = { name, type: 'A' };
  const replied = await askServer(server, question, context);
  if (!replied.ok) {
    const late = replied.failure.outcome === 'timeout';
    return { ok: false, late, reason: late ? 'did not answer in time' : 'could not be asked' };
  }
  const rcode = (replied.packet.flags ?? 0) & 0x0f;
  if (rcode === 3) return { ok: true, values: [] };
  if (rcode !== 0)
    return { ok: false, late: false, reason: rcode === 5 ? 'was refused' : `answered with the error ${rcode}` };
  const values = (replied.packet.answers ?? [])
    .map((each) => valueOf(each, 'A'))
    .filter((each) => each !== undefined)
    .slice(0, 20);
  return { ok: true, values };
}

/** The text beside an entry; empty when there is none. Control characters of the other side go no further. */
async function reasonOf(name: string, server: Endpoint, context: CheckContext): Promise<string> {
  const replied = await askServer(server, { name, type: 'TXT' }, context);
  if (!replied.ok) return '';
  return (replied.packet.answers ?? [])
    .map((each) => valueOf(each, 'TXT'))
    .filter((each) => each !== undefined)
    .slice(0, 3)
    .join(' ')
    .replace(/[\p{Cc}\p{Cf}\ufffd]+/gu, ' ')
    .slice(0, 300);
}
