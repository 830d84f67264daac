import type { Socket } from 'node:net';
import type { Client } from 'undici';

/** A connection over which one exchange at a time goes. */
export type Connection = { readonly client: Client; readonly socket: Socket; readonly madeMs: number };

/** Over all names. */
const mostIdle = 1_024;
/** A name is resolved anew, and its certificate looked at, at least so often. */
const mostAgeMs = 60_000;

/**
 * Connections that wait for the next exchange of whoever made them. Each stands under a name that the caller chooses: what one receiver says
 * over its connection reaches no exchange with another. undici closes those that wait for 4 s, or earlier where the other side asks for it.
 */
export class KeptConnections {
  readonly #idle = new Map<string, Connection[]>();
  readonly #followed = new WeakSet<Connection>();
  #count = 0;
  #isClosed = false;

  /** Takes out the connection of a name that was used last; undefined when none is open. */
  take(name: string): Connection | undefined {
    for (;;) {
      const connection = this.#idle.get(name)?.at(-1);
      if (connection === undefined) return undefined;
      this.#remove(name, connection);
      if (connection.client.stats.connected && performance.now() - connection.madeMs < mostAgeMs) return connection;
      drop(connection);
    }
  }

  /** Keeps a connection for the next exchange under a name, or closes it where there are enough. */
  give(name: string, connection: Connection): void {
    if (this.#isClosed || this.#count >= mostIdle || !connection.client.stats.connected) return drop(connection);
    const own = this.#idle.get(name);
    if (own === undefined) this.#idle.set(name, [connection]);
    else own.push(connection);
    this.#count += 1;
    if (this.#followed.has(connection)) return;
    this.#followed.add(connection);
    connection.client.once('disconnect', () => {
      if (this.#remove(name, connection)) drop(connection);
    });
  }

  /** Closes all that wait, and from now on keeps none. */
  close(): void {
    this.#isClosed = true;
    const all = [...this.#idle.values()].flat();
    this.#idle.clear();
    this.#count = 0;
    for (const connection of all) drop(connection);
  }

  #remove(name: string, connection: Connection): boolean {
    const own = this.#idle.get(name);
    const at = own?.indexOf(connection) ?? -1;
    if (own === undefined || at === -1) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#idle.delete(name);
    this.#count -= 1;
    return true;
  }
}

/** Ends a connection at once. */
export function drop({ client, socket }: Pick<Connection, 'client' | 'socket'>): void {
  client.destroy().catch(() => undefined);
  socket.on('error', () => undefined);
  socket.destroy();
}
