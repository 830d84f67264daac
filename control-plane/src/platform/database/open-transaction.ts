import type pg from 'pg';

/** How a transaction begins: with one statement that is prepared, and rows. All parameters are plain text or null. */
export type Opening = {
  readonly statement: { readonly name: string; readonly text: string; readonly values: readonly (string | null)[] };
  /** `copy … from stdin` and its data; absent: no rows. The data must stay as it is until the answer. */
  readonly copy: { readonly text: string; readonly data: Uint8Array } | undefined;
};

/**
 * Begins a transaction, runs a statement in it and copies rows, in one exchange: everything is sent at once and answered once. Statement by
 * statement it would be five turns, in each of which the database waits for a process that has its hands full.
 *
 * As the extended query protocol has it (PostgreSQL, "Message Flow"), what follows a step that failed is dropped until the one Sync at the end,
 * data of the copy included. The transaction stays open either way.
 * @returns the one row of the statement, as text
 */
export function openTransaction(client: pg.ClientBase, opening: Opening): Promise<readonly (string | null)[]> {
  return new Promise((resolve, reject) => {
    client.query(new Exchange(opening, resolve, reject));
  });
}

/** What is used of the connection beneath a client; the types of `pg` lack half of it. */
type Connection = {
  /** Texts by name. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly stream: {
    readonly cork: () => void;
    readonly uncork: () => void;
    readonly write: (bytes: Uint8Array) => boolean;
  };
  readonly parse: (statement: { readonly name?: string; readonly text: string }) => void;
  readonly bind: (portal: { readonly statement?: string; readonly values?: readonly (string | null)[] }) => void;
  readonly execute: (portal: object) => void;
  readonly endCopyFrom: () => void;
  readonly sync: () => void;
};

type Resolve = (row: readonly (string | null)[]) => void;
type Reject = (error: Error) => void;

/**
 * `pg` hands a query whatever the server says while it is at its turn. Of one with a name it notes with each statement that the server has
 * parsed that this one is prepared, so the statement is parsed before all others.
 */
class Exchange implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly #opening: Opening;
  readonly #resolve: Resolve;
  readonly #reject: Reject;
  #row: readonly (string | null)[] = [];

  constructor(opening: Opening, resolve: Resolve, reject: Reject) {
    this.name = opening.statement.name;
    this.text = opening.statement.text;
    this.#opening = opening;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(given: pg.Connection): void {
    const connection = given as unknown as Connection;
    const { statement, copy } = this.#opening;
    connection.stream.cork();
    try {
      if (connection.parsedStatements[statement.name] === undefined) connection.parse(statement);
      runUnnamed(connection, 'begin');
      connection.bind({ statement: statement.name, values: statement.values });
      connection.execute({});
      if (copy !== undefined) {
        runUnnamed(connection, copy.text);
        writeCopyData(connection, copy.data);
        connection.endCopyFrom();
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#row = fields;
  }

  handleCommandComplete(): void {
    // Of three commands; the end of the last is told by the server's being ready.
  }

  handleCopyInResponse(): void {
    // The data is on its way already.
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#row);
  }
}

function runUnnamed(connection: Connection, text: string): void {
  connection.parse({ text });
  connection.bind({});
  connection.execute({});
}

/** A message of its type, its length and the data, which is not copied. */
function writeCopyData({ stream }: Connection, data: Uint8Array): void {
  const head = Buffer.allocUnsafe(5);
  head.write('d', 'latin1');
  head.writeInt32BE(data.length + 4, 1);
  stream.write(head);
  stream.write(data);
}
