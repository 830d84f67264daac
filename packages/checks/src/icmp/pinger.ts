import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { PingLine } from './ping-output.ts';
import { findPingTool, type PingOrder, type PingTool } from './tool.ts';
import type { StopSignal } from '../stop.ts';

/** What came of the packets to one address; undefined stands for a lost packet. */
export type Pinged =
  | {
      readonly ok: true;
      readonly roundTripsUs: readonly (number | undefined)[];
      readonly unreachable: string | undefined;
    }
  | { readonly ok: false; readonly reason: 'no_tool' | 'tool_failed' | 'aborted'; readonly detail: string };

export type Pinger = {
  /** Sends the packets of `order` to a judged literal address. Never rejects. */
  readonly ping: (address: string, order: PingOrder, signal: StopSignal) => Promise<Pinged>;
};

export type PingerOptions = {
  /** The ping program; looked for at the first ping by default. */
  readonly tool?: PingTool;
  /** How long a ping waits for others that can share its process, milliseconds. */
  readonly windowMs?: number;
};

type Seat = {
  readonly trips: Map<number, number | undefined>;
  unreachable: string | undefined;
  waiting: Set<(pinged: Pinged) => void>;
};
type Batch = { readonly order: PingOrder; readonly seats: Map<string, Seat>; child: ChildProcess | undefined };

/** Pings that are due within this time and ask for the same go to one process. */
const defaultWindowMs = 50;

/** A coalescer: each process takes all addresses that were asked for with the same order inside one window. */
export function createPinger(options: PingerOptions = {}): Pinger {
  const windowMs = options.windowMs ?? defaultWindowMs;
  const gathering = new Map<string, Batch>();
  let tool = options.tool;

  function ping(address: string, order: PingOrder, signal: StopSignal): Promise<Pinged> {
    tool ??= findPingTool();
    if (tool === undefined)
      return Promise.resolve({ ok: false, reason: 'no_tool', detail: 'neither fping nor ping is installed' });
    if (signal.aborted) return Promise.resolve(aborted);
    const batch = join(address, order, tool);
    const seat = batch.seats.get(address) ?? newSeat();
    batch.seats.set(address, seat);
    return new Promise((resolve) => {
      const settle = (pinged: Pinged) => {
        seat.waiting.delete(settle);
        signal.removeEventListener('abort', leave);
        resolve(pinged);
      };
      const leave = () => {
        settle(seat.trips.size === 0 && seat.unreachable === undefined ? aborted : summary(seat, order));
        endWhenDone(batch);
      };
      seat.waiting.add(settle);
      signal.addEventListener('abort', leave);
    });
  }

  /** The batch that is being gathered for such an order, or a new one that starts when its window closes. */
  function join(address: string, order: PingOrder, with_: PingTool): Batch {
    const family = address.includes(':') ? 6 : 4;
    const key = [
      order.count,
      order.intervalMs,
      order.packetTimeoutMs,
      order.packetBytes,
      order.sourceAddress,
      family,
    ].join(' ');
    const open = gathering.get(key);
    if (open !== undefined && (open.seats.has(address) || open.seats.size < with_.maxAddresses)) return open;
    const batch: Batch = { order, seats: new Map(), child: undefined };
    gathering.set(key, batch);
    setTimeout(
      () => {
        if (gathering.get(key) === batch) gathering.delete(key);
        start(batch, with_);
      },
      with_.maxAddresses > 1 ? windowMs : 0,
    );
    return batch;
  }

  return { ping };
}

const aborted: Pinged = { ok: false, reason: 'aborted', detail: 'no reply came in time' };

function start(batch: Batch, tool: PingTool): void {
  const addresses = [...batch.seats].filter(([, seat]) => seat.waiting.size > 0).map(([address]) => address);
  if (addresses.length === 0) return;
  const notStarted = (error: NodeJS.ErrnoException) =>
    failAll(batch, `${tool.name} could not be started (${error.code ?? 'unknown error'})`);
  const child = startTool(tool, addresses, batch.order);
  if (child instanceof Error) return notStarted(child);
  batch.child = child;
  child.on('error', notStarted);
  // Without a file descriptor to spare there are no streams, and the error comes later.
  const streams = [child.stdout, child.stderr].filter((each) => each instanceof Readable);
  if (streams.length < 2) return;
  let said = '';
  let hasRun = false;
  const take = (line: string) => {
    const parsed = tool.parseLine(line, addresses);
    hasRun ||= / packets transmitted/.test(line);
    if (parsed === undefined) said = `${said}${line.trim()} `.slice(0, 300);
    else record(batch, parsed);
  };
  for (const stream of streams) createInterface({ input: stream }).on('line', take);
  child.on('close', (code) => {
    // fping: 0 all answered, 1 some did not, 2 a name was not found; above that the program itself failed. What 1 and 2 mean for a ping
    // depends on whose it is, but each that has sent something ends with its statistics.
    const broken = tool.name === 'ping' ? !hasRun : code === null || code > 2;
    for (const seat of batch.seats.values()) {
      if (broken && seat.trips.size === 0 && seat.unreachable === undefined)
        settleAll(seat, toolFailed(`${tool.name} failed: ${said.trim() || `exit ${code}`}`));
      else settleAll(seat, summary(seat, batch.order));
    }
  });
}

/** Node throws some reasons for which a program cannot be started (no memory), and tells others by an event. */
function startTool(tool: PingTool, addresses: readonly string[], order: PingOrder): ChildProcess | Error {
  try {
    return spawn(tool.path, tool.commandLine(addresses, order), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    });
  } catch (error) {
    return error instanceof Error ? error : new Error('It was not started.');
  }
}

function record(batch: Batch, line: PingLine): void {
  const seat = batch.seats.get(line.address);
  if (seat === undefined) return;
  if (line.kind === 'unreachable') seat.unreachable ??= line.reason;
  else if (!seat.trips.has(line.sequence))
    seat.trips.set(line.sequence, line.kind === 'reply' ? line.rttUs : undefined);
  if (seat.trips.size >= batch.order.count) {
    settleAll(seat, summary(seat, batch.order));
    endWhenDone(batch);
  }
}

/** Ends the process as soon as nobody waits for any of its addresses. */
function endWhenDone(batch: Batch): void {
  for (const seat of batch.seats.values()) if (seat.waiting.size > 0) return;
  batch.child?.kill('SIGKILL');
}

function summary(seat: Seat, order: PingOrder): Pinged {
  const inOrder = [...seat.trips].sort(([a], [b]) => a - b).map(([, trip]) => trip);
  const roundTripsUs = Array.from({ length: order.count }, (_, index) => inOrder[index]);
  return { ok: true, roundTripsUs, unreachable: seat.unreachable };
}

function settleAll(seat: Seat, pinged: Pinged): void {
  // Each removes itself, which a walk over a set allows.
  for (const settle of seat.waiting) settle(pinged);
}

function failAll(batch: Batch, detail: string): void {
  for (const seat of batch.seats.values()) settleAll(seat, toolFailed(detail));
}

function toolFailed(detail: string): Pinged {
  return { ok: false, reason: 'tool_failed', detail };
}

function newSeat(): Seat {
  return { trips: new Map(), unreachable: undefined, waiting: new Set() };
}
