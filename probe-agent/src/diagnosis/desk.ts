import { createAddressPolicy, createResolver, diagnose, maxDiagnosisBytes } from '@parallax/checks';
import type { Listener } from '@parallax/checks';
import type { Assignment, CheckAnswer, RunCheck } from '@parallax/wire';
import { messageOf } from '../ports.ts';

export type DiagnosisOptions = {
  /** CIDRs that the operator of this probe allows although they are not public. */
  readonly allowedPrivate: readonly string[];
  readonly sourceAddress: string | undefined;
  /** Sent to targets; says what this is. */
  readonly userAgent: string;
};

/** Answers what the control plane asks about a target step by step. */
export type DiagnosisDesk = {
  /**
   * Never rejects: what cannot be done is refused in the answer. Nothing is recorded, and no secret of the monitor is used.
   * @param assignment of the monitor; undefined when this probe has none
   */
  readonly answer: (request: RunCheck, assignment: Assignment | undefined) => Promise<CheckAnswer>;
  readonly denyListeners: (listeners: readonly Listener[]) => void;
  /** Ends what is under way. */
  readonly stop: () => void;
};

/** Diagnoses at the same time, in all; of one monitor there is one. */
const mostAtOnce = 4;
/** What one may take, whatever was asked for. */
const mostMs = 15_000;

/** Diagnoses under the same address policy as the checks of this probe, bounded in number and time. */
export function createDiagnosisDesk(options: DiagnosisOptions): DiagnosisDesk {
  const addresses = createAddressPolicy({ allowedPrivate: options.allowedPrivate });
  const clock = (): number => performance.now();
  const resolver = createResolver({ clock });
  const underWay = new Set<number>();
  const stopping = new AbortController();

  async function run(assignment: Assignment, deadlineMs: number): Promise<Buffer> {
    const found = await diagnose(
      assignment.protocol,
      { url: assignment.url },
      {
        signal: stopping.signal,
        timeoutMs: Math.min(Math.max(1, deadlineMs), mostMs),
        clock,
        addresses,
        resolver,
        userAgent: options.userAgent,
        sourceAddress: options.sourceAddress,
      },
      readSettings(assignment.settingsJson),
    );
    return Buffer.from(JSON.stringify(found));
  }

  return {
    denyListeners: addresses.setDeniedListeners,
    stop: () => stopping.abort(),
    answer: async ({ requestId, monitorId, deadlineMs }, assignment) => {
      const refuse = (refused: string): CheckAnswer => ({ ...empty(requestId), refused });
      if (assignment === undefined) return refuse('the monitor is not assigned to this probe');
      if (underWay.has(monitorId)) return refuse('a diagnosis of this monitor is under way');
      if (underWay.size >= mostAtOnce) return refuse('the probe is at its limit of diagnoses at the same time');
      underWay.add(monitorId);
      try {
        const diagnosisJson = await run(assignment, deadlineMs);
        if (diagnosisJson.length > maxDiagnosisBytes) return refuse('the diagnosis is too large');
        return { ...empty(requestId), diagnosisJson };
      } catch (error) {
        return refuse(`the diagnosis could not be made: ${messageOf(error)}`);
      } finally {
        underWay.delete(monitorId);
      }
    },
  };
}

function empty(requestId: string): CheckAnswer {
  const nothing = Buffer.alloc(0);
  return { requestId, effectiveUs: 0n, outcomeJson: nothing, trace: [], refused: '', diagnosisJson: nothing };
}

/** Settings that cannot be read are as none: the check itself says what is wrong with them. */
function readSettings(json: Buffer): Readonly<Record<string, unknown>> {
  try {
    const settings: unknown = JSON.parse(json.toString('utf8'));
    return typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? { ...settings } : {};
  } catch {
    return {};
  }
}
