/**
 * How checks leave an agent, for the test that judges the address policy from outside: reads questions as lines of JSON from the standard
 * input and prints the code of each outcome. The argument names the way: `monitor` as the schedule runs a check, `test` as the control
 * plane asks for one that was never saved, `command` as `probe-agent check`, `chain` as it asks for certificates.
 */
import { createInterface } from 'node:readline';
import { CheckKind } from '@parallax/wire';
import { AssignmentStore } from '../assignments/store.ts';
import { runCli } from '../cli.ts';
import { createDiagnosisDesk } from '../diagnosis/desk.ts';
import { monotonicUs, silentLogger } from '../ports.ts';
import { createChecker } from '../runner/checker.ts';
import { ServerClock } from '../runner/clock.ts';
import { Runner } from '../runner/runner.ts';
import { anAssignment } from './control-plane.ts';

type Question = { readonly protocol: string; readonly url: string; readonly settings: Record<string, unknown> };
type Told = { readonly code?: string; readonly outcome?: string };

const { check } = createChecker({ allowedPrivate: [], sourceAddress: undefined });
const never = new AbortController().signal;

function assignmentOf({ protocol, url, settings }: Question) {
  const settingsJson = Buffer.from(JSON.stringify(settings));
  return anAssignment({ monitorId: 1, protocol, url, settingsJson, timeoutSeconds: 1 });
}

async function monitor(question: Question): Promise<Told> {
  return check(assignmentOf(question), { signal: never });
}

const store = new AssignmentStore(() => undefined);
const runner = new Runner(store, {
  probeId: 1,
  maxInFlight: 10,
  clock: new ServerClock({ monotonicUs, wallMs: Date.now, onAnchor: () => undefined }),
  monotonicUs,
  check,
  record: () => undefined,
  logger: silentLogger,
});

async function test(question: Question): Promise<Told> {
  const request = {
    requestId: 'r',
    monitorId: 1,
    kind: CheckKind.MANUAL,
    deadlineMs: 1_000,
    trace: true,
    diagnose: false,
    readChain: false,
    expiresUs: 0n,
  };
  const answer = await runner.runCheck({ ...request, assignment: assignmentOf(question) }, 'manual');
  return answer.refused === ''
    ? (JSON.parse(Buffer.from(answer.outcomeJson).toString()) as Told)
    : { code: answer.refused };
}

async function command({ protocol, url, settings }: Question): Promise<Told> {
  const said: string[] = [];
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}:=${JSON.stringify(value)}`]);
  const line = ['node', 'probe-agent', 'check', '--type', protocol, ...set, '--timeout', '1', '--json', '--', url];
  const output = { line: (text: string) => said.push(text), terminal: { color: false, width: 80 } };
  let refused = '';
  await runCli(line, { env: {}, output } as unknown as Parameters<typeof runCli>[1], (text) => (refused += text));
  return said.length === 0 ? { code: `refused: ${refused.trim().slice(0, 80)}` } : (JSON.parse(said.join('')) as Told);
}

const desk = createDiagnosisDesk({ allowedPrivate: [], sourceAddress: undefined, userAgent: 'Test/1' });

async function chain(question: Question): Promise<Told> {
  const request = {
    requestId: 'r',
    monitorId: 1,
    kind: CheckKind.MANUAL,
    deadlineMs: 1_000,
    assignment: undefined,
    trace: false,
    diagnose: true,
    readChain: true,
    expiresUs: 0n,
  };
  const answer = await desk.answer(request, assignmentOf(question));
  return answer.refused === '' ? (JSON.parse(answer.chainJson.toString()) as Told) : { code: answer.refused };
}

const ways = { monitor, test, command, chain };
const way = ways[(process.argv[2] ?? '') as keyof typeof ways];
for await (const line of createInterface({ input: process.stdin })) {
  const { code, outcome } = await way(JSON.parse(line) as Question);
  process.stdout.write(`${code ?? outcome}\n`);
}
await runner.stop();
