/** A message of a stream. */
export type StoredMessage = { readonly seq: number; readonly subject: string; readonly data: Uint8Array };

export type StreamConfig = {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly max_msgs_per_subject: number;
} & Record<string, unknown>;

type Operation = { readonly kind: 'added' | 'removed'; readonly message: StoredMessage };

/** So many operations can be taken back by the loss of what was not synced, or by a store that is put back to an earlier state. */
const keptOperations = 4_000;

/** The store of a stream: a message is gone when it was acknowledged. */
export class StreamStore {
  config: StreamConfig;
  readonly messages = new Map<number, StoredMessage>();
  readonly #perSubject = new Map<string, number>();
  #nextSeq = 1;
  #operations: Operation[] = [];
  #synced = 0;

  constructor(config: StreamConfig) {
    this.config = config;
  }

  takes(subject: string): boolean {
    return this.config.subjects.includes(subject);
  }

  isFull(subject: string): boolean {
    return (this.#perSubject.get(subject) ?? 0) >= this.config.max_msgs_per_subject;
  }

  add(subject: string, data: Uint8Array): StoredMessage {
    const message = { seq: this.#nextSeq, subject, data };
    this.#nextSeq += 1;
    this.#put(message);
    this.#did({ kind: 'added', message });
    return message;
  }

  remove(seq: number): void {
    const message = this.messages.get(seq);
    if (message === undefined) return;
    this.#take(message);
    this.#did({ kind: 'removed', message });
  }

  sync(): void {
    this.#synced = this.#operations.length;
  }

  get unsynced(): number {
    return this.#operations.length - this.#synced;
  }

  get operations(): number {
    return this.#operations.length;
  }

  /** Takes back the last operations: what was added is gone, what was removed is back. */
  takeBack(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const operation = this.#operations.pop();
      if (operation === undefined) break;
      if (operation.kind === 'added') {
        if (this.messages.has(operation.message.seq)) this.#take(operation.message);
        this.#nextSeq = operation.message.seq;
      } else this.#put(operation.message);
    }
    this.#synced = Math.min(this.#synced, this.#operations.length);
    const inOrder = [...this.messages.values()].sort((a, b) => a.seq - b.seq);
    this.messages.clear();
    for (const message of inOrder) this.messages.set(message.seq, message);
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Of a subject, or of those that a pattern `results.*.0` names, oldest first. */
  matching(filter: string): StoredMessage[] {
    return [...this.messages.values()].filter(({ subject }) => matches(filter, subject)).sort((a, b) => a.seq - b.seq);
  }

  #put(message: StoredMessage): void {
    this.messages.set(message.seq, message);
    this.#perSubject.set(message.subject, (this.#perSubject.get(message.subject) ?? 0) + 1);
  }

  #take(message: StoredMessage): void {
    this.messages.delete(message.seq);
    this.#perSubject.set(message.subject, (this.#perSubject.get(message.subject) ?? 0) - 1);
  }

  #did(operation: Operation): void {
    this.#operations.push(operation);
    if (this.#operations.length < 2 * keptOperations) return;
    const dropped = this.#operations.length - keptOperations;
    this.#operations.splice(0, dropped);
    this.#synced = Math.max(0, this.#synced - dropped);
  }
}

/** Whether a subject is one that a pattern means; `*` stands for one word. */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject) return true;
  if (!pattern.includes('*')) return false;
  const wanted = pattern.split('.');
  const words = subject.split('.');
  return wanted.length === words.length && wanted.every((word, at) => word === '*' || word === words[at]);
}
