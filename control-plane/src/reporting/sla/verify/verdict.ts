import type { SlaVerdict } from '@parallax/api-contract';
import { iso } from '../../statistics/index.ts';
import type { LedgerKind } from '../ledger/queries.ts';
import { severalSubjects } from '../seal.ts';
import type { FoundSeal } from '../seal.ts';

/** Whose signature a seal has: ours, somebody else's, or ours over something else. */
export type SealOrigin = 'own' | 'foreign' | 'forged';

/** What the ledger of a monitor says of the place that a seal names. */
export type LedgerFacts = {
  readonly monitor: { readonly id: number; readonly name: string };
  /** The present chain. */
  readonly currentChain: number;
  /** Digest of the entry in hexadecimal; null when the ledger does not have it, undefined when the seal names none. */
  readonly digest: string | null | undefined;
  /** Number of the first entry up to it that does not follow from the one before; null when all do. */
  readonly brokenAt: number | null;
  /** Entries after it. */
  readonly newer: Readonly<Record<LedgerKind, number>>;
};

type Problem = SlaVerdict['problems'][number];

/** The answer for a file without a seal. */
export function noReport(): SlaVerdict {
  return {
    ...nothing,
    problems: [
      problem(
        'no_report',
        'invalid',
        'The file does not end with the seal of an SLA report; it is none, or its end was cut off or changed.',
      ),
    ],
  };
}

/**
 * What is to be said of a file with a seal.
 * @param facts null when the monitor is gone, or not one that the caller may see; read for genuine seals only
 */
export function verdictOf(seal: FoundSeal, origin: SealOrigin, facts: LedgerFacts | null): SlaVerdict {
  const { fields } = seal;
  if (origin !== 'own') return { ...nothing, kind: fields.kind, problems: [strangeSeal(origin)] };
  const problems = [...bytesProblems(seal), ...ledgerOf(seal, facts)];
  return {
    valid: problems.every(({ severity }) => severity !== 'invalid'),
    kind: fields.kind,
    monitor: facts?.monitor ?? null,
    period: { from: iso(fields.fromMs), to: iso(fields.toMs) },
    generated_at: iso(fields.generatedMs),
    problems,
    chain: facts === null ? null : chainState(seal, facts),
  };
}

const nothing: SlaVerdict = {
  valid: false,
  kind: null,
  monitor: null,
  period: null,
  generated_at: null,
  problems: [],
  chain: null,
};

function problem(code: Problem['code'], severity: Problem['severity'], message: string): Problem {
  return { code, severity, message };
}

function strangeSeal(origin: 'foreign' | 'forged'): Problem {
  return origin === 'foreign'
    ? problem(
        'foreign_installation',
        'invalid',
        'Another installation signed the report; only that one can tell whether it is genuine.',
      )
    : problem(
        'seal_altered',
        'invalid',
        'The seal names the key of this installation, but the signature is not by it: the seal was altered.',
      );
}

const ofSeveral = problem(
  'several_subjects',
  'unchecked',
  'The report is on several subjects; it was not compared with the ledgers of its monitors.',
);

const unknownMonitor = problem(
  'monitor_unknown',
  'unchecked',
  'The monitor was deleted, or you may not see it; the report was not compared with its ledger.',
);

function bytesProblems({ isIntact }: FoundSeal): Problem[] {
  return isIntact
    ? []
    : [
        problem(
          'altered',
          'invalid',
          'The file was altered after it was exported: it is not the one that the seal was made for.',
        ),
      ];
}

function ledgerOf(seal: FoundSeal, facts: LedgerFacts | null): Problem[] {
  if (seal.fields.monitorId === severalSubjects) return [ofSeveral];
  return facts === null ? [unknownMonitor] : ledgerProblems(seal, facts);
}

function ledgerProblems({ fields }: FoundSeal, facts: LedgerFacts): Problem[] {
  const place = `entry ${fields.seq} of chain ${fields.chain}`;
  const found: Problem[] = [];
  if (facts.digest === null) {
    found.push(
      problem(
        'ledger_unknown',
        'invalid',
        `The ledger has no ${place}; an older backup may have been restored since the report was made.`,
      ),
    );
  } else if (facts.digest !== undefined && facts.digest !== fields.head) {
    found.push(
      problem('ledger_differs', 'invalid', `The ledger says something else at ${place} than when the report was made.`),
    );
  }
  if (facts.brokenAt !== null) {
    found.push(
      problem(
        'ledger_damaged',
        'invalid',
        `Entry ${facts.brokenAt} of chain ${fields.chain} does not follow from the one before: the ledger was changed.`,
      ),
    );
  }
  if (facts.currentChain !== fields.chain) {
    found.push(
      problem(
        'chain_reset',
        'outdated',
        'The statistics of the monitor were reset after the report was made; what it reports on was removed.',
      ),
    );
  }
  const { correction, revision } = facts.newer;
  if (correction > 0) {
    const what = correction === 1 ? 'correction' : 'corrections';
    found.push(problem('newer_corrections', 'outdated', `The ledger has ${correction} newer ${what}.`));
  }
  if (revision > 0) {
    const what = revision === 1 ? 'day was' : 'days were';
    found.push(problem('newer_revisions', 'outdated', `${revision} ${what} revised later, because results came late.`));
  }
  return found;
}

function chainState({ fields }: FoundSeal, facts: LedgerFacts): SlaVerdict['chain'] {
  return {
    known: facts.digest !== null,
    head_matches: facts.digest === undefined || facts.digest === fields.head,
    is_current: facts.currentChain === fields.chain,
    newer_entries: facts.newer.day + facts.newer.revision + facts.newer.correction,
  };
}
