import { issue, type ServerCertificate } from '@parallax/checks/testing';
import type { Test } from 'tap';

/** A server that runs, and the monitor that watches it. */
export type Case = {
  readonly url: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whole seconds; absent: 5. */
  readonly timeoutSeconds?: number;
  /** What the probe needs beside what every probe has, as variables of its environment. */
  readonly agent?: Readonly<Record<string, string>>;
  /** Ends the server; may be called again. */
  readonly stop: () => Promise<void>;
  /** What the monitor says then; absent parts: DOWN, `connect_refused`. */
  readonly down?: { readonly status?: 'DOWN' | 'TIMEOUT'; readonly code?: string };
};

/** What the servers of one story share. */
export type World = {
  readonly t: Test;
  /** For 127.0.0.1, signed by `authority`. */
  readonly certificate: ServerCertificate;
  /** PEM */
  readonly authority: string;
  /** Starts a server that several check types watch once, by its name. */
  readonly once: <Server>(name: string, start: () => Promise<Server>) => Promise<Server>;
};

/** Starts the server of a check type; undefined where it is not installed, which is counted. */
export type StartCase = (world: World) => Promise<Case | undefined>;

export async function createWorld(t: Test): Promise<World> {
  const authority = await issue({ name: 'Test authority', authority: true });
  const certificate = await issue({ name: 'server', by: authority, addresses: ['127.0.0.1'] });
  const started = new Map<string, Promise<unknown>>();
  return {
    t,
    certificate,
    authority: authority.cert,
    once: <Server>(name: string, start: () => Promise<Server>) => {
      const running = (started.get(name) as Promise<Server> | undefined) ?? start();
      started.set(name, running);
      return running;
    },
  };
}
