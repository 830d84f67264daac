import type { Process } from '../../engine/engine.ts';
import type { Wire } from '../network.ts';
import type { Database } from './database.ts';
import { shardStatement } from './shard-statements.ts';

/** A connection of one process to the database: one statement after another. */
export class Connection {
  readonly database: Database;
  readonly client: Process;
  readonly #wire: Wire;
  #isEnded = false;
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(database: Database, client: Process) {
    this.database = database;
    this.client = client;
    this.#wire = database.network.connect(
      { process: client, onBroken: () => this.#broken() },
      { process: database.process, onBroken: () => database.forget(this) },
      true,
    );
  }

  /** As its client knows. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Has the database do something. Rejects when the connection breaks before the answer is here; then it may have been done. */
  ask<Answer>(perform: () => Answer): Promise<Answer> {
    return this.exchange((answer, refuse) => {
      try {
        answer(perform());
      } catch (error) {
        refuse(error);
      }
    });
  }

  /** The same for what the database answers later, as one that waits for a lock. */
  exchange<Answer>(
    perform: (answer: (value: Answer) => void, refuse: (error: unknown) => void) => void,
  ): Promise<Answer> {
    if (this.#isEnded) return Promise.reject(new Error('the connection to the database is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const settle = (act: () => void): void =>
        this.#wire.send(0, () => {
          this.#waiting.delete(reject);
          act();
        });
      this.#wire.send(1, () =>
        perform(
          (value) => settle(() => resolve(value)),
          (error) => settle(() => reject(error)),
        ),
      );
    });
  }

  /** The database ends it. */
  terminate(): void {
    this.database.forget(this);
    this.#wire.close(1);
  }

  // ---- what `pg` calls it --------------------------------------------------------------------------------------------------------

  on(): this {
    return this;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<{ rows: unknown[]; rowCount: number }> {
    return this.exchange((answer, refuse) => shardStatement(this, text, values, answer, refuse));
  }

  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#wire.send(1, () => this.database.forget(this));
  }

  #broken(): void {
    this.#isEnded = true;
    for (const reject of this.#waiting) reject(new Error('the connection to the database was lost'));
    this.#waiting.clear();
  }
}
