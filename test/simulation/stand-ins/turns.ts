/* The next turn of the event loop, in virtual time. */

export function setImmediate(): Promise<void> {
  return new Promise((resolve) => {
    globalThis.setImmediate(resolve);
  });
}
