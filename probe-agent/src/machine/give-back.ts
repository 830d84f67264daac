/** The collector, where Node was told to show it (`--expose-gc`, see node-options.json). */
type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/**
 * Collects everything that can be collected, and gives what is free back to the system: loading a program leaves behind a seventh of what it
 * occupies, and an agent with little to do would never come to collect it. Takes some 30 ms in which nothing else happens, so it is for a
 * moment before the work begins.
 */
export function giveBackMemory(collect = (globalThis as { readonly gc?: Collect }).gc): void {
  collect?.({ type: 'major', flavor: 'last-resort' });
}
