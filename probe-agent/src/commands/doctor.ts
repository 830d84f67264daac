import { connect } from 'node:net';
import type { AgentSettings } from '@parallax/settings';
import { fine } from '../machine/finding.ts';
import type { Finding } from '../machine/finding.ts';
import { inspectMachine } from '../machine/capabilities.ts';
import { machineOptions } from '../machine/options.ts';
import { inspectClock, inspectDisk, inspectNameServers, inspectOpenFiles } from '../machine/resources.ts';
import { messageOf } from '../ports.ts';
import { readIdentity } from '../state/identity.ts';
import type { Identity } from '../state/identity.ts';
import { statusOfRunningAgent } from '../state/lock.ts';
import type { AgentStatus } from '../state/lock.ts';
import type { Output } from './output.ts';

const dialMs = 3_000;
const colours = { ok: 32, warn: 33, fail: 31 } as const;

/**
 * Says what this machine lacks and how to mend it, one line for each thing. Gives false when something fails; warnings are for what the
 * operator may do without.
 */
export async function runDoctor(settings: AgentSettings, output: Output, json: boolean): Promise<boolean> {
  const findings = await examine(settings);
  const isWell = findings.every(({ level }) => level !== 'fail');
  if (json) {
    const told = findings.map(({ name, level, detail, remedy }) => ({ name, level, detail, remedy }));
    output.line(JSON.stringify({ ok: isWell, findings: told }));
    return isWell;
  }
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, level, detail, remedy } of findings) {
    const mark = output.terminal?.colours ? `\u001b[${colours[level]}m${level.padEnd(4)}\u001b[0m` : level.padEnd(4);
    output.line(`${mark}  ${name.padEnd(width)}  ${detail}`);
    if (remedy !== '') output.line(`${' '.repeat(width + 8)}-> ${remedy}`);
  }
  return isWell;
}

async function examine(settings: AgentSettings): Promise<readonly Finding[]> {
  const { stateDir } = settings;
  const [identity, running] = await Promise.all([
    readIdentity(stateDir).catch((error: unknown) => error as Error),
    statusOfRunningAgent(stateDir),
  ]);
  const offset = running?.['clock_offset_ms'];
  const [capabilities, nameServers, disk, session] = await Promise.all([
    inspectMachine(machineOptions(settings)),
    inspectNameServers(),
    inspectDisk(stateDir),
    identity instanceof Error || identity === undefined ? [] : inspectSession(identity, running),
  ]);
  return [
    ...capabilities,
    nameServers,
    inspectClock(Date.now(), typeof offset === 'number' ? offset : undefined),
    inspectOpenFiles(settings.maxInFlight),
    disk,
    registrationOf(stateDir, identity),
    ...session,
  ];
}

function registrationOf(stateDir: string, identity: Identity | Error | undefined): Finding {
  const name = 'registration';
  if (identity instanceof Error)
    return {
      name,
      level: 'fail',
      detail: identity.message,
      remedy: `look at ${stateDir}, or register in another folder`,
    };
  if (identity !== undefined) return fine(name, `probe ${identity.probeId} "${identity.name}"`);
  return {
    name,
    level: 'fail',
    detail: `${stateDir} has no registered probe`,
    remedy: `probe-agent register --control-plane HOST:PORT --join-token TOKEN --state-dir ${stateDir}`,
  };
}

/** Whether the control plane is connected or, while no agent runs, can be reached. */
async function inspectSession(identity: Identity, running: AgentStatus | undefined): Promise<Finding[]> {
  const name = 'session';
  const where = identity.sessionAddress;
  if (running?.['session_connected'] === true) return [fine(name, `the agent is connected to ${where}`)];
  const problem = await dialProblem(where);
  const state = running === undefined ? 'no agent runs with this state folder' : 'the agent is not connected';
  if (problem === undefined && running === undefined)
    return [{ name, level: 'warn', detail: `${state}; ${where} can be reached`, remedy: 'probe-agent run' }];
  return [
    {
      name,
      level: 'fail',
      detail: `${state}; ${where} ${problem === undefined ? 'can be reached' : `cannot be reached (${problem})`}`,
      remedy:
        problem === undefined
          ? 'look at the log of the agent: journalctl -u parallax-probe-agent'
          : `let this machine reach ${where} by TCP; "control-plane" serve must listen there`,
    },
  ];
}

function dialProblem(address: string): Promise<string | undefined> {
  const at = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connect({ host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) });
    const settle = (problem: string | undefined) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(dialMs, () => settle('no answer in time'));
    socket.once('connect', () => settle(undefined));
    socket.once('error', (error) => settle(messageOf(error)));
  });
}
