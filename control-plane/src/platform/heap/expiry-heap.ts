/** Items by time, the earliest first. One item may be in it several times; what is outdated is skipped when it comes up. */
export type ExpiryHeap<Item> = {
  readonly push: (atUs: number, item: Item) => void;
  /** The earliest time in it, outdated or not; infinity when it is empty. */
  readonly nextUs: () => number;
  /** Takes out the earliest item that is due and current; undefined when there is none. */
  readonly popDue: (nowUs: number, isCurrent: (atUs: number, item: Item) => boolean) => Item | undefined;
};

/** A binary heap in an array. */
export function createExpiryHeap<Item>(): ExpiryHeap<Item> {
  const nodes: { readonly atUs: number; readonly item: Item }[] = [];
  const at = (index: number): number => nodes[index]?.atUs ?? Number.POSITIVE_INFINITY;

  function swap(a: number, b: number): void {
    const first = nodes[a];
    const second = nodes[b];
    if (first === undefined || second === undefined) return;
    nodes[a] = second;
    nodes[b] = first;
  }

  function pop(): { readonly atUs: number; readonly item: Item } | undefined {
    swap(0, nodes.length - 1);
    const top = nodes.pop();
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const smaller = at(left + 1) < at(left) ? left + 1 : left;
      if (at(smaller) >= at(index)) return top;
      swap(smaller, index);
      index = smaller;
    }
  }

  return {
    nextUs: () => at(0),
    push: (atUs, item) => {
      if (atUs === Number.POSITIVE_INFINITY) return;
      nodes.push({ atUs, item });
      for (let index = nodes.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1;
        if (at(parent) <= at(index)) return;
        swap(parent, index);
        index = parent;
      }
    },
    popDue: (nowUs, isCurrent) => {
      while (at(0) <= nowUs) {
        const node = pop();
        if (node !== undefined && isCurrent(node.atUs, node.item)) return node.item;
      }
      return undefined;
    },
  };
}
