/** One entry of a heap; it knows its place, so that it can be moved and removed. */
export type HeapNode<T> = { key: number; index: number; readonly value: T };

/** A node that is in no heap. */
export const heapNode = <T>(value: T): HeapNode<T> => ({ key: 0, index: -1, value });

/** A binary heap by ascending key. Each operation costs the logarithm of its size and allocates nothing. */
export class Heap<T> {
  readonly #nodes: HeapNode<T>[] = [];

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
      node.index = this.#nodes.length;
      this.#nodes.push(node);
      this.#up(node);
    } else if (key < before) this.#up(node);
    else this.#down(node);
  }

  /** Takes a node out; one that is not in does nothing. */
  delete(node: HeapNode<T>): void {
    const { index } = node;
    if (index < 0) return;
    node.index = -1;
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return;
    last.index = index;
    this.#nodes[index] = last;
    this.#up(last);
    this.#down(last);
  }

  #up(node: HeapNode<T>): void {
    const nodes = this.#nodes;
    let { index } = node;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = nodes[parentIndex];
      if (parent === undefined || parent.key <= node.key) break;
      nodes[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    nodes[index] = node;
    node.index = index;
  }

  #down(node: HeapNode<T>): void {
    const nodes = this.#nodes;
    let { index } = node;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = nodes[childIndex];
      if (child === undefined) break;
      const right = nodes[childIndex + 1];
      if (right !== undefined && right.key < child.key) {
        child = right;
        childIndex += 1;
      }
      if (child.key >= node.key) break;
      nodes[index] = child;
      child.index = index;
      index = childIndex;
    }
    nodes[index] = node;
    node.index = index;
  }
}
