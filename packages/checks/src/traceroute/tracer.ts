import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { StopSignal } from '../stop.ts';
import { type Hop, parseHop } from './output.ts';

/** Kinds of packets: UDP needs no rights; ICMP and TCP need those of a raw socket. */
export const traceMethods = ['udp', 'icmp', 'tcp'] as const;

export type TraceOrder = {
  readonly method: (typeof traceMethods)[number];
  /** Port for UDP and TCP; absent: the program's own. */
  readonly port: number | undefined;
  readonly maxHops: number;
  readonly packetsPerHop: number;
  /** Milliseconds that the whole trace may take. */
  readonly budgetMs: number;
  readonly sourceAddress: string | undefined;
};

/** The hops in their order, as far as they came; `problem` is what the program said when it failed or could not be started. */
export type Traced = {
  readonly hops: readonly Hop[];
  readonly problem: string | undefined;
  readonly cutShort: boolean;
};

/** So many packets are on their way at once. */
const together = 30;

/** Arguments of Linux's traceroute for one literal address. */
export function traceArguments(address: string, order: TraceOrder): readonly string[] {
  const packets = order.maxHops * order.packetsPerHop;
  const rounds = Math.ceil(packets / together);
  const waitSeconds = Math.min(5, Math.max(0.1, order.budgetMs / 1000 / rounds));
  const method = { udp: '-U', icmp: '-I', tcp: '-T' }[order.method];
  const usesPort = order.method !== 'icmp' && order.port !== undefined;
  return [
    '-n',
    address.includes(':') ? '-6' : '-4',
    // Without a port, UDP is spread over many ports as routers expect of a traceroute; -U sends all to one.
    ...(order.method === 'udp' && !usesPort ? [] : [method]),
    ...(usesPort ? ['-p', String(order.port)] : []),
    '-m',
    String(order.maxHops),
    '-q',
    String(order.packetsPerHop),
    '-N',
    String(Math.min(together, packets)),
    '-w',
    waitSeconds.toFixed(2),
    ...(order.sourceAddress === undefined ? [] : ['-s', order.sourceAddress]),
    address,
  ];
}

/** Runs the program at `path` for a judged literal address. Never rejects; the process is gone when it returns or soon after. */
export function trace(path: string, address: string, order: TraceOrder, signal: StopSignal): Promise<Traced> {
  if (signal.aborted) return Promise.resolve({ hops: [], problem: undefined, cutShort: true });
  return new Promise((resolve) => {
    const hops: Hop[] = [];
    let said = '';
    const child = spawn(path, traceArguments(address, order), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    });
    const settle = (problem: string | undefined, cutShort: boolean) => {
      signal.removeEventListener('abort', abort);
      resolve({ hops: [...hops], problem, cutShort });
    };
    const abort = () => {
      child.kill('SIGKILL');
      settle(undefined, true);
    };
    signal.addEventListener('abort', abort);
    child.on('error', (error: NodeJS.ErrnoException) =>
      settle(`traceroute could not be started (${error.code ?? 'unknown error'})`, false),
    );
    // Without a file descriptor to spare there are no streams, and the error comes later.
    if (!(child.stdout instanceof Readable && child.stderr instanceof Readable)) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const hop = parseHop(line);
      if (hop !== undefined && hops.length < order.maxHops) hops.push(hop);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      said = `${said}${line.trim()} `.slice(0, 300);
    });
    child.on('close', (code) =>
      settle(code === 0 ? undefined : `traceroute failed: ${said.trim() || `exit ${code ?? 'by signal'}`}`, false),
    );
  });
}
