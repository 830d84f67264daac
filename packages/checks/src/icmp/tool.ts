import { findProgram, programFolders } from '@parallax/settings/programs';
import { type PingLine, parseFpingLine, parsePingLine } from './ping-output.ts';
import type { PingPlan } from './plan.ts';

/** A ping program of this machine, and how it is spoken to. */
export type PingTool = {
  readonly name: 'fping' | 'ping';
  readonly path: string;
  /** How many addresses one process takes. */
  readonly maxAddresses: number;
  readonly commandLine: (addresses: readonly string[], order: PingOrder) => readonly string[];
  readonly parseLine: (line: string, addresses: readonly string[]) => PingLine | undefined;
};

export type PingOrder = PingPlan & {
  readonly packetBytes: number;
  readonly sourceAddress: string | undefined;
};

/** fping where present, else ping; undefined where neither is installed. `folders` as in PATH. */
export function findPingTool(folders: readonly string[] = programFolders()): PingTool | undefined {
  const fping = findProgram('fping', folders);
  if (fping !== undefined) return fpingTool(fping);
  const ping = findProgram('ping', folders);
  return ping === undefined ? undefined : pingTool(ping);
}

function fpingTool(path: string): PingTool {
  return {
    name: 'fping',
    path,
    // Packets leave 1 ms apart, so one round of this many takes no longer than the usual interval.
    maxAddresses: 200,
    commandLine: (addresses, order) => [
      '-C',
      String(order.count),
      '-p',
      String(order.intervalMs),
      '-t',
      String(order.packetTimeoutMs),
      '-i',
      '1',
      '-r',
      '0',
      '-b',
      String(order.packetBytes),
      ...(order.sourceAddress === undefined ? [] : ['-S', order.sourceAddress]),
      ...addresses,
    ],
    parseLine: (line) => parseFpingLine(line),
  };
}

function pingTool(path: string): PingTool {
  return {
    name: 'ping',
    path,
    maxAddresses: 1,
    commandLine: (addresses, order) => [
      '-n',
      '-c',
      String(order.count),
      '-i',
      seconds(Math.max(order.intervalMs, 200)),
      '-s',
      String(order.packetBytes),
      '-W',
      process.platform === 'darwin' ? String(order.packetTimeoutMs) : seconds(order.packetTimeoutMs),
      ...(order.sourceAddress === undefined ? [] : [process.platform === 'darwin' ? '-S' : '-I', order.sourceAddress]),
      ...addresses,
    ],
    parseLine: (line, addresses) => parsePingLine(line, addresses[0] ?? ''),
  };
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
