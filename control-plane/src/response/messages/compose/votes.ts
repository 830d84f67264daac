import type { NoticeOccasion, NoticeVote } from '../notice.ts';
import { cut, isolated, plainLine } from '../plain.ts';
import type { Matter, Seen, Words } from '../words/words.ts';
import { named } from './named.ts';

/** Probes that are named in one line. */
const mostProbes = 5;
const mostLines = 24;
const mostText = 220;

/** Codes that need the check's own sentence to say anything. */
const vague = new Set([
  'address_partial',
  'assertion_failed',
  'connect_failed',
  'db_query_failed',
  'db_wrong_result',
  'dns_wrong_answer',
  'http_body_size',
  'http_final_url',
  'http_header',
  'http_json',
  'http_protocol',
  'http_redirect',
  'http_status',
  'members_down',
  'response_mismatch',
  'tls_handshake',
]);

type Seeing = Pick<NoticeOccasion, 'votes' | 'missing'>;

/** Who saw it; undefined where nobody did or nobody votes. */
export function seenOf(words: Words, { votes, missing }: Seeing, matter: Matter): Seen | undefined {
  const failing = votes.filter(({ vote }) => saw(vote, matter));
  if (failing.length === 0) return undefined;
  const isCentral = missing.length === 0 && votes.every(({ probe }) => probe === '');
  return {
    probes: failing.slice(0, mostProbes).map(({ probe }) => probeName(words, probe)),
    failing: failing.length,
    asked: isCentral ? 0 : votes.length + missing.length,
  };
}

export type Reason = {
  /** What is to be known at a glance. */
  readonly short: string;
  /** With the check's own sentence. */
  readonly whole: string;
};

/** Why: what most of the probes got that saw it, with what the first of those was told. */
export function reasonOf(words: Words, { votes }: Seeing, matter: Matter): Reason | undefined {
  const failing = votes.filter(({ vote }) => saw(vote, matter));
  const counts = new Map<string | null, number>();
  for (const { code } of failing) counts.set(code, (counts.get(code) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  const first = failing.find(({ code, text }) => code === most?.[0] && (code !== null || text !== null));
  if (first === undefined) return undefined;
  const whole = reasonOfVote(words, first);
  return whole === undefined ? undefined : { short: shortOf(words, first) ?? whole, whole };
}

/** A line for every probe, those that see the problem first; what is left out is counted. */
export function voteLines(words: Words, { votes, missing }: Seeing, matter: Matter): string[] {
  const seers = votes.filter(({ vote }) => saw(vote, matter));
  const others = votes.filter(({ vote }) => !saw(vote, matter));
  const lines = [
    ...[...seers, ...others].map((vote) => `${placeOf(words, vote)}: ${resultOf(words, vote)}`),
    ...missing.map((probe) => `${probeName(words, probe)}: ${words.votes['MISSING'] ?? ''}`),
  ];
  return lines.length <= mostLines
    ? lines
    : [...lines.slice(0, mostLines - 1), words.more(lines.length - mostLines + 1)];
}

function saw(vote: string, matter: Matter): boolean {
  if (matter === 'degraded') return vote === 'DEGRADED';
  if (matter === 'warning') return vote === 'WARNING';
  return vote === 'DOWN' || vote === 'TIMEOUT';
}

function probeName(words: Words, probe: string): string {
  return probe === '' ? words.controlPlane : named(words, probe, 60);
}

function placeOf(words: Words, { probe, region }: NoticeVote): string {
  const name = probeName(words, probe);
  return region === null || region === '' || region === probe ? name : `${name} (${named(words, region, 60)})`;
}

function resultOf(words: Words, vote: NoticeVote): string {
  return reasonOfVote(words, vote) ?? words.votes[vote.vote] ?? named(words, vote.vote, 40);
}

/** The reason alone, where it says enough; of the vaguer ones an English reader gets the check's sentence alone. */
function shortOf(words: Words, { code, text }: NoticeVote): string | undefined {
  if (code === null || !Object.hasOwn(words.reasons, code)) return undefined;
  if (text === null || !vague.has(code)) return words.reasons[code];
  return words.locale === 'en' ? isolated(cut(withoutStop(plainLine(text)), mostText)) || undefined : undefined;
}

/** The reason in the reader's language and the check's own sentence, where there is one and it says more. */
function reasonOfVote(words: Words, { code, text }: NoticeVote): string | undefined {
  const known = code !== null && Object.hasOwn(words.reasons, code) ? words.reasons[code] : undefined;
  const own = text === null ? '' : withoutStop(plainLine(text));
  if (own === '') return known ?? (code === null ? undefined : named(words, code, 60));
  const told = isolated(cut(own, mostText));
  if (known === undefined || own.toLowerCase() === known.toLowerCase()) return told;
  // The check's sentence is English and says all of it; elsewhere it is what follows a reason that can be read.
  return words.locale === 'en' ? told : `${known} (${told})`;
}

function withoutStop(text: string): string {
  return text.replace(/(?<![.\s])\.$/u, '');
}
