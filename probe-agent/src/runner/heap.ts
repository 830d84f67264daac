/** One entry of a heap; it knows its place, so that it can be moved and removed. */
export type HeapNode<T> = { key: number; index: number; readonly value: T };

/** A node that is in no heap. */
export const heapNode = <T>(value: T): HeapNode<T> => ({ key: 0, index: -1, value });

/** Children of a node. With four a heap is half as high as with two, and their keys lie beside each other in memory. */
const width = 4;

/** A heap by ascending key. Each operation costs the logarithm of its size and allocates nothing, except when the heap grows. */
export class Heap<T> {
  readonly #nodes: HeapNode<T>[] = [];
  /** The keys once more, so that comparing them need not follow a pointer for each: most of what a heap costs is waiting for memory. */
  #keys = new Float64Array(64);

  get size(): number {
    return this.#nodes.length;
  }

  get top(): HeapNode<T> | undefined {
    return this.#nodes[0];
  }

  /** Puts a node in, or moves it, to a key. */
  set(node: HeapNode<T>, key: number): void {
    const before = node.key;
    node.key = key;
    if (node.index < 0) {
      const index = this.#nodes.length;
      this.#nodes.push(node);
      if (index === this.#keys.length) this.#grow();
      this.#up(node, key, index);
    } else if (key < before) this.#up(node, key, node.index);
    else this.#down(node, key, node.index);
  }

  /** Takes a node out; one that is not in does nothing. */
  delete(node: HeapNode<T>): void {
    const { index } = node;
    if (index < 0) return;
    node.index = -1;
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return;
    this.#up(last, last.key, index);
    this.#down(last, last.key, last.index);
  }

  #grow(): void {
    const keys = new Float64Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
  }

  /** Puts a node into a free place, or one above it. */
  #up(node: HeapNode<T>, key: number, from: number): void {
    const keys = this.#keys;
    let index = from;
    while (index > 0) {
      const parent = Math.floor((index - 1) / width);
      if ((keys[parent] ?? 0) <= key) break;
      this.#put(this.#nodes[parent], keys[parent] ?? 0, index);
      index = parent;
    }
    this.#put(node, key, index);
  }

  /** Puts a node into a free place, or one below it. */
  #down(node: HeapNode<T>, key: number, from: number): void {
    const keys = this.#keys;
    const size = this.#nodes.length;
    let index = from;
    for (;;) {
      const first = width * index + 1;
      if (first >= size) break;
      const end = Math.min(first + width, size);
      let least = first;
      let leastKey = keys[first] ?? Infinity;
      for (let child = first + 1; child < end; child += 1) {
        const childKey = keys[child] ?? Infinity;
        if (childKey < leastKey) {
          leastKey = childKey;
          least = child;
        }
      }
      if (leastKey >= key) break;
      this.#put(this.#nodes[least], leastKey, index);
      index = least;
    }
    this.#put(node, key, index);
  }

  #put(node: HeapNode<T> | undefined, key: number, index: number): void {
    if (node === undefined) return;
    this.#nodes[index] = node;
    this.#keys[index] = key;
    node.index = index;
  }
}
