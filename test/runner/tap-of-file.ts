import t from 'tap';

/* In the place of tap in a file that runs beside others in one process: its root is the subtest of the file. */

let current: object = t;

export async function runWith(test: object, work: () => Promise<unknown>): Promise<void> {
  current = test;
  await work();
}

export * from 'tap';

export default new Proxy(t, {
  get: (_root, name) => {
    const value: unknown = Reflect.get(current, name, current);
    return typeof value === 'function' ? value.bind(current) : value;
  },
});
