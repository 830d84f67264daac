import type { Test } from 'tap';
import root from 'tap';

/* In the place of tap in a file that runs beside others in one process: its root is the subtest of the file. */

let current: { readonly file: string; readonly test: object } | undefined;

/** The test file that runs now, relative to the root of the project. */
export function fileOfNow(): string | undefined {
  return current?.file;
}

/** Does the work of a file, which takes the test for its root. */
export async function runWith(file: string, test: Test, work: () => Promise<unknown>): Promise<void> {
  current = { file, test };
  await work();
}

export * from 'tap';

export default new Proxy(root, {
  get: (_root, name) => {
    const test = current?.test ?? root;
    const value: unknown = Reflect.get(test, name, test);
    return typeof value === 'function' ? value.bind(test) : value;
  },
});
