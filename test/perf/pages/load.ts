import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** What readers ask for, and how. */
export type LoadPlan = {
  readonly port: number;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  /** Lines of headers beside `host`. */
  readonly headers: readonly string[];
  /** Each has an address of its own. */
  readonly readers: number;
  readonly seconds: number;
  /** Absent: as fast as it is answered. */
  readonly perSecond?: number | undefined;
  /** Ends it after so many requests. */
  readonly most?: number | undefined;
  /** A server that ends each connection is connected to anew for each request. */
  readonly isReconnecting?: boolean | undefined;
};

/** What became of it. */
export type Load = {
  readonly answered: number;
  /** By status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without an answer. */
  readonly lost: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Until the last was answered. */
  readonly untilLastSeconds: number;
  /** From when a request was due. */
  readonly latenciesMs: readonly number[];
  /** The longest time without any answer. */
  readonly longestGapMs: number;
};

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Readers with connections that are kept, one request at a time on each, sent as they are due whether or not a connection is free. Written on sockets
 * and on bytes, so that it leaves the processor to the server.
 */
export class Readers {
  readonly #plan: LoadPlan;
  readonly #requests: readonly string[];
  readonly #free: Reader[] = [];
  readonly #due: number[] = [];
  readonly #latenciesMs: number[] = [];
  readonly #statuses: Record<string, number> = {};
  #sent = 0;
  #lost = 0;
  #bytes = 0;
  #isOver = false;
  #answeredMs = 0;
  #longestGapMs = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    const headers = ['host: localhost', ...plan.headers].map((line) => `${line}\r\n`).join('');
    this.#requests = plan.paths.map((path) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`);
  }

  async run(): Promise<Load> {
    const { port, readers, seconds, perSecond, most = Number.POSITIVE_INFINITY, isReconnecting = false } = this.#plan;
    const all = Array.from({ length: readers }, (_, place) => new Reader(port, addressOf(place), isReconnecting, this));
    await Promise.all(all.map((reader) => reader.open()));
    const beganMs = performance.now();
    this.#answeredMs = beganMs;
    for (const reader of all) this.next(reader);
    let offered = 0;
    while (performance.now() - beganMs < seconds * 1_000 && Math.max(offered, this.#sent) < most) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (perSecond === undefined) continue;
      // The first is due at once.
      const wanted = Math.min(most, Math.floor(((performance.now() - beganMs) / 1_000) * perSecond) + 1);
      for (; offered < wanted; offered += 1) {
        const dueMs = beganMs + (offered * 1_000) / perSecond;
        // In turn, for a server ends a connection that has asked nothing for ten seconds.
        const reader = this.#free.shift();
        if (reader === undefined) this.#due.push(dueMs);
        else this.#send(reader, dueMs);
      }
    }
    this.#isOver = true;
    const tookSeconds = (performance.now() - beganMs) / 1_000;
    const deadlineMs = performance.now() + 60_000;
    while (all.some(({ isBusy }) => isBusy) && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 2));
    this.#lost += this.#due.length + all.filter(({ isBusy }) => isBusy).length;
    for (const reader of all) reader.close();
    return {
      answered: this.#latenciesMs.length,
      statuses: this.#statuses,
      lost: this.#lost,
      bytes: this.#bytes,
      seconds: tookSeconds,
      untilLastSeconds: (this.#answeredMs - beganMs) / 1_000,
      latenciesMs: this.#latenciesMs,
      longestGapMs: this.#longestGapMs,
    };
  }

  /** Gives a reader what is due. */
  next(reader: Reader): void {
    const { perSecond, most = Number.POSITIVE_INFINITY } = this.#plan;
    if (perSecond === undefined) {
      if (!this.#isOver && this.#sent < most) this.#send(reader, performance.now());
      return;
    }
    const dueMs = this.#due.shift();
    if (dueMs === undefined) this.#free.push(reader);
    else this.#send(reader, dueMs);
  }

  answered(reader: Reader, status: string, bytes: number): void {
    const nowMs = performance.now();
    this.#latenciesMs.push(nowMs - reader.dueMs);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    this.#bytes += bytes;
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#answeredMs);
    this.#answeredMs = nowMs;
    this.next(reader);
  }

  lost(): void {
    this.#lost += 1;
  }

  #send(reader: Reader, dueMs: number): void {
    const request = this.#requests[this.#sent % this.#requests.length] ?? '';
    this.#sent += 1;
    reader.send(request, dueMs);
  }
}

class Reader {
  dueMs = 0;
  isBusy = false;
  readonly #port: number;
  readonly #address: string;
  readonly #isReconnecting: boolean;
  readonly #all: Readers;
  #socket: Socket | undefined;
  #head: Buffer | undefined;
  #status = '';
  /** Of the answer that is being read. */
  #missing = 0;
  #bytes = 0;

  constructor(port: number, address: string, isReconnecting: boolean, all: Readers) {
    this.#port = port;
    this.#address = address;
    this.#isReconnecting = isReconnecting;
    this.#all = all;
  }

  async open(): Promise<void> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: this.#address, noDelay: true });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve();
      });
    });
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      if (!this.isBusy) return;
      this.isBusy = false;
      this.#all.lost();
    });
  }

  send(request: string, dueMs: number): void {
    this.dueMs = dueMs;
    this.isBusy = true;
    if (this.#socket !== undefined) {
      this.#socket.write(request);
      return;
    }
    this.open().then(
      () => this.#socket?.write(request),
      () => {
        this.isBusy = false;
        this.#all.lost();
      },
    );
  }

  close(): void {
    this.#socket?.destroy();
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
      if (this.#missing <= 0) this.#end();
      return;
    }
    const read = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = read.indexOf(headEnd);
    if (end === -1) {
      this.#head = read;
      return;
    }
    this.#head = undefined;
    const head = read.toString('latin1', 0, end);
    this.#status = head.slice(9, 12);
    const length = this.#status === '304' ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    this.#missing = end + headEnd.length + length - read.length;
    if (this.#missing <= 0) this.#end();
  }

  #end(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#missing = 0;
    this.isBusy = false;
    if (this.#isReconnecting) {
      const socket = this.#socket;
      this.#socket = undefined;
      socket?.destroy();
    }
    this.#all.answered(this, this.#status, bytes);
  }
}

/** Addresses of loopback, each of which is another client. */
const addressOf = (place: number): string => `127.0.${1 + Math.floor(place / 250)}.${1 + (place % 250)}`;
