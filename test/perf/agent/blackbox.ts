import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '@parallax/settings/programs';
import { freePort } from '@parallax/testkit';
import { processorTimeUs } from '../processor-time.ts';
import { targetAddress } from './target.ts';
import type { Teardown } from './teardown.ts';

const names = ['prometheus-blackbox-exporter', 'blackbox_exporter'];
/** Requests at the same time. */
const width = 32;

/** What some requests have cost the exporter. */
export type Driven = { readonly requests: number; readonly us: number; readonly seconds: number };

export type Blackbox = {
  /** Has it probe the target for so long, as fast as it can. */
  readonly probe: (ms: number) => Promise<Driven>;
  /** Asks at this rate for a page of it that does nothing, for so long: what serving a request costs it. */
  readonly serve: (ms: number, perSecond: number) => Promise<Driven>;
};

/** The exporter's binary on this machine. */
export function findBlackbox(): string | undefined {
  return names.map((name) => findProgram(name)).find((file) => file !== undefined);
}

/** Starts the exporter with its usual HTTP module; asked over kept connections by this process, whose cost does not count. */
export async function startBlackbox(
  binary: string,
  options: {
    readonly folder: string;
    readonly targetPort: number /** Over TLS, without verification. */;
    readonly secure?: boolean;
  },
  teardown: Teardown,
): Promise<Blackbox> {
  const secure = options.secure === true;
  const config = path.join(options.folder, secure ? 'blackbox-tls.yml' : 'blackbox.yml');
  const trusting = secure ? '      tls_config:\n        insecure_skip_verify: true\n' : '';
  const module = `  http_2xx:\n    prober: http\n    http:\n      preferred_ip_protocol: ip4\n${trusting}`;
  writeFileSync(config, `modules:\n${module}`);
  const port = await freePort();
  const child = spawn(
    binary,
    [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await listening(port);
  const pid = child.pid ?? 0;
  let number = 0;
  const probePath = (): string => {
    number += 1;
    const place = secure ? 'https%3A%2F%2F127.0.0.1' : `http%3A%2F%2F${targetAddress(number)}`;
    return `/probe?target=${place}%3A${options.targetPort}%2F&module=http_2xx`;
  };
  const drive = async (ms: number, pathOf: () => string, good: RegExp, perSecond: number): Promise<Driven> => {
    const startedUs = processorTimeUs(pid);
    const startedMs = performance.now();
    const until = startedMs + ms;
    const pace = { next: startedMs, everyMs: 1_000 / perSecond };
    const counts = await Promise.all(Array.from({ length: width }, () => askUntil(port, until, pathOf, good, pace)));
    return {
      requests: counts.reduce((sum, count) => sum + count, 0),
      us: processorTimeUs(pid) - startedUs,
      seconds: (performance.now() - startedMs) / 1_000,
    };
  };
  return {
    probe: (ms) => drive(ms, probePath, /\nprobe_success 1\n/, Infinity),
    serve: (ms, perSecond) => drive(ms, () => '/-/healthy', /^HTTP\/1\.1 200 /, perSecond),
  };
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    if (attempt > 200) throw new Error('blackbox_exporter does not listen');
    await sleep(20);
  }
}

/** Asks over one connection, one request after the other, until the time is over; gives how many answers were good, and fails for a bad one. */
async function askUntil(
  port: number,
  until: number,
  pathOf: () => string,
  good: RegExp,
  pace: { next: number; readonly everyMs: number },
): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let count = 0;
  try {
    while (performance.now() < until) {
      pace.next += pace.everyMs;
      const waitMs = pace.next - performance.now();
      if (waitMs > 1) await sleep(waitMs);
      // The size of a chunk may stand in the middle of a line.
      const answer = (await ask(socket, pathOf())).replace(/\r\n[0-9a-f]+\r\n/g, '');
      if (!good.test(answer)) throw new Error(`blackbox_exporter answered:\n${answer.slice(0, 2_000)}`);
      count += 1;
    }
  } finally {
    socket.destroy();
  }
  return count;
}

function ask(socket: Socket, requestPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const take = (part: Buffer): void => {
      text += part.toString('latin1');
      if (!isComplete(text)) return;
      socket.off('data', take);
      socket.off('error', reject);
      resolve(text);
    };
    socket.on('data', take);
    socket.on('error', reject);
    socket.write(`GET ${requestPath} HTTP/1.1\r\nHost: bench\r\n\r\n`, 'latin1');
  });
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2))?.[1];
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= end + 4 + Number(length);
}
