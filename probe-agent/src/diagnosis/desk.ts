import {
  createAddressPolicy,
  createResolver,
  diagnose,
  maxChainBytes,
  maxDiagnosisBytes,
  readChain,
} from '@parallax/checks';
import type { Listener } from '@parallax/checks';
import type { Assignment, CheckAnswer, RunCheck } from '@parallax/wire';
import { messageOf } from '../ports.ts';
import { policyFor } from '../runner/private-targets.ts';

export type DiagnosisOptions = {
  /** CIDRs that the operator of this probe allows although they are not public. */
  readonly allowedPrivate: readonly string[];
  readonly sourceAddress: string | undefined;
  /** Sent to targets; says what this is. */
  readonly userAgent: string;
};

/** Answers what the control plane asks about a target beside checks: what is found step by step, or the certificates that it sends. */
export type DiagnosisDesk = {
  /**
   * Never rejects: what cannot be done is refused in the answer. Nothing is recorded, and no secret of the monitor is used.
   * For a chain the monitor's client certificate is shown, since some servers send nothing to strangers.
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

  async function run(assignment: Assignment, request: RunCheck): Promise<Buffer> {
    const { protocol, url, settingsJson } = assignment;
    const context = {
      signal: stopping.signal,
      timeoutMs: Math.min(Math.max(1, request.deadlineMs), mostMs),
      clock,
      addresses: policyFor(addresses, assignment),
      resolver,
      userAgent: options.userAgent,
      sourceAddress: options.sourceAddress,
    };
    const settings = readSettings(settingsJson);
    const found = request.readChain
      ? await readChain(protocol, url, settings, context)
      : await diagnose(protocol, { url }, context, settings);
    return Buffer.from(JSON.stringify(found));
  }

  return {
    denyListeners: addresses.setDeniedListeners,
    stop: () => stopping.abort(),
    answer: async (request, assignment) => {
      const { requestId, monitorId, readChain: isChain } = request;
      const refuse = (refused: string): CheckAnswer => ({ ...empty(requestId), refused });
      if (assignment === undefined) return refuse('the monitor is not assigned to this probe');
      if (underWay.has(monitorId)) return refuse('a diagnosis of this monitor is under way');
      if (underWay.size >= mostAtOnce) return refuse('the probe is at its limit of diagnoses at the same time');
      underWay.add(monitorId);
      try {
        const json = await run(assignment, request);
        if (json.length > (isChain ? maxChainBytes : maxDiagnosisBytes)) return refuse('the answer is too large');
        return { ...empty(requestId), ...(isChain ? { chainJson: json } : { diagnosisJson: json }) };
      } catch (error) {
        return refuse(`the target could not be looked at: ${messageOf(error)}`);
      } finally {
        underWay.delete(monitorId);
      }
    },
  };
}

function empty(requestId: string): CheckAnswer {
  const nothing = Buffer.alloc(0);
  return {
    requestId,
    effectiveUs: 0n,
    outcomeJson: nothing,
    trace: [],
    refused: '',
    diagnosisJson: nothing,
    chainJson: nothing,
  };
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
