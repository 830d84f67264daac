/** A group monitor with those of its members that are group monitors too. */
export type GroupNode = {
  readonly id: number;
  readonly name: string;
  /** The monitor group that it watches, if it is one. */
  readonly group: string | null;
  readonly members: readonly number[];
};

/**
 * A way on which a group monitor contains itself, as its nodes in order, the first one again at the end; undefined when there is none.
 * Without recursion: chains may be as long as a workspace is large.
 */
export function findCycle(nodes: readonly GroupNode[]): readonly GroupNode[] | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const done = new Set<number>();
  for (const root of nodes) {
    const path: { readonly node: GroupNode; next: number }[] = done.has(root.id) ? [] : [{ node: root, next: 0 }];
    const onPath = new Set([root.id]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const member = byId.get(top.node.members[top.next] ?? -1);
      top.next += 1;
      if (top.next > top.node.members.length) {
        path.pop();
        onPath.delete(top.node.id);
        done.add(top.node.id);
      } else if (member !== undefined && onPath.has(member.id)) {
        const from = path.findIndex(({ node }) => node.id === member.id);
        return [...path.slice(from).map(({ node }) => node), member];
      } else if (member !== undefined && !done.has(member.id)) {
        path.push({ node: member, next: 0 });
        onPath.add(member.id);
      }
    }
  }
  return undefined;
}

/** The way in words: monitors, and the monitor groups by which they contain each other. */
export function tellCycle(cycle: readonly GroupNode[]): string {
  return cycle
    .map(({ name, group }, index) =>
      group === null || index === cycle.length - 1 ? `"${name}"` : `"${name}" → group "${group}"`,
    )
    .join(' → ');
}
