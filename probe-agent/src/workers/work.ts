import { dependsOnUplink } from '@parallax/checks';
import type { CheckOutcome } from '@parallax/checks';
import { CheckAnswer, RunCheck } from '@parallax/wire';
import type { Assignment } from '@parallax/wire';
import type { MessagePort } from 'node:worker_threads';
import { monotonicUs } from '../ports.ts';
import type { Logger } from '../ports.ts';
import { createChecker } from '../runner/checker.ts';
import type { PlannedChange } from '../runner/plan.ts';
import { Runner } from '../runner/runner.ts';
import { FollowedClock } from './followed-clock.ts';
import { unpackChange } from './messages.ts';
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';
import { Reporter } from './reporter.ts';

/** The whole of a thread that runs checks: its share of the assignments on their schedule, and what it is asked for. */
export function work(port: MessagePort, start: WorkerStart): void {
  const send = (message: FromWorker, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transfer]);
  const logger = loggerTo(send);
  const clock = new FollowedClock(start.line);
  const checker = createChecker(start.checker);
  checker.denyListeners(start.deniedListeners);
  const assigned = new Map<number, Assignment>();
  const reporter = new Reporter({ send, inFlight: () => runner.inFlight });
  const judge = askingMain(send);
  const runner = new Runner(assigned, {
    probeId: start.probeId,
    maxInFlight: start.maxInFlight,
    clock,
    monotonicUs,
    check: checker.check,
    examine: (outcome) => judge.ask(outcome),
    record: (shard, atUs, result, urgent) => reporter.add({ shard, monotonicUs: atUs, result, urgent }),
    ...(start.isObserved && { onBegin: (lateMs: number) => reporter.began(lateMs) }),
    onSkip: (why) => reporter.skipped(why),
    logger,
  });
  reporter.start();
  const telling = setInterval(() => runner.tellSkipped(), 1_000);

  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'assignments':
        take(unpackChange(message.change));
        return;
      case 'clock':
        clock.follow(message.line);
        return;
      case 'deny':
        checker.denyListeners(message.listeners);
        return;
      case 'judged':
        judge.answered(message.id, message.outcome);
        return;
      case 'run':
        void answer(message.id, message.kind, message.request);
        return;
      case 'stop':
        void stop();
    }
  });

  function take(change: PlannedChange): void {
    for (const monitorId of change.removed) assigned.delete(monitorId);
    for (const { assignment } of change.set) assigned.set(assignment.monitorId, assignment);
    runner.take(change);
  }

  async function answer(id: number, kind: 'manual' | 'recheck', request: Uint8Array): Promise<void> {
    const given = await runner.runCheck(RunCheck.decode(request), kind);
    const bytes = new Uint8Array(CheckAnswer.encode(given).finish());
    // Whoever waits for the answer finds what it has led to in the log soon.
    reporter.report();
    send({ type: 'answer', id, answer: bytes }, [bytes.buffer]);
  }

  async function stop(): Promise<void> {
    clearInterval(telling);
    judge.letGo();
    await runner.stop();
    reporter.stop();
    send({ type: 'stopped' });
    port.close();
  }
}

/** Failures that a lost uplink would explain are judged by the main thread, which has the session; every other outcome stays as it is. */
function askingMain(send: (message: FromWorker) => void) {
  const waiting = new Map<number, { readonly outcome: CheckOutcome; resolve(outcome: CheckOutcome): void }>();
  let lastId = 0;
  const answered = (id: number, judged: CheckOutcome | undefined): void => {
    const asked = waiting.get(id);
    waiting.delete(id);
    asked?.resolve(judged ?? asked.outcome);
  };
  return {
    ask: (outcome: CheckOutcome): Promise<CheckOutcome> => {
      if (!dependsOnUplink(outcome)) return Promise.resolve(outcome);
      lastId += 1;
      const id = lastId;
      send({ type: 'judge', id, outcome: forJudgement(outcome) });
      return new Promise((resolve) => waiting.set(id, { outcome, resolve }));
    },
    answered,
    /** Nobody will answer any more. */
    letGo: (): void => {
      for (const id of waiting.keys()) answered(id, undefined);
    },
  };
}

/** What the judgement goes by; bodies and headers stay here. */
function forJudgement({ evidence, ...rest }: CheckOutcome): CheckOutcome {
  const { address, details } = evidence ?? {};
  return {
    ...rest,
    evidence: { ...(address !== undefined && { address }), ...(details !== undefined && { details }) },
  };
}

function loggerTo(send: (message: FromWorker) => void): Logger {
  const at =
    (level: Extract<FromWorker, { type: 'log' }>['level']) =>
    (fields: object, message: string): void =>
      send({ type: 'log', level, fields, message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
