/*
 * In the place of `async-hook-domain` in a process that runs several test files. There a hook of Node follows each promise and socket, from the test that
 * made it, so that what is thrown later fails that test. Files and their tests run one after another here: the innermost test that lasts is the one.
 */

type OnError = (error: unknown, type: string) => void;

const lasting: Domain[] = [];

/** What tap makes for each test, and takes away at its end. */
export class Domain {
  readonly #take: OnError;
  destroyed = false;

  constructor(take: OnError) {
    this.#take = take;
    lasting.push(this);
    if (lasting.length === 1) {
      process.on('uncaughtException', fail);
      process.on('unhandledRejection', reject);
    }
  }

  /** tap calls it, too. */
  onerror(error: unknown, type: string): void {
    this.#take(error, type);
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    lasting.splice(lasting.indexOf(this), 1);
    if (lasting.length > 0) return;
    // Node ends the process with an error again.
    process.off('uncaughtException', fail);
    process.off('unhandledRejection', reject);
  }
}

// What a test or the product listens for itself is theirs.
function fail(error: unknown): void {
  if (process.listenerCount('uncaughtException') === 1) tell(error, 'uncaughtException');
}

function reject(error: unknown): void {
  if (process.listenerCount('unhandledRejection') === 1) tell(error, 'unhandledRejection');
}

/** A test that cannot take it leaves it to the one around it. */
function tell(error: unknown, type: string): void {
  const domain = lasting.at(-1);
  if (domain === undefined) throw error;
  try {
    domain.onerror(error, type);
  } catch (next) {
    domain.destroy();
    tell(next, 'uncaughtException');
  }
}
