import { inspect } from 'node:util';

/*
 * In the place of tap in tests that are run thousands of times: gathers the tests of a file as they are declared, runs each as often as is wanted, and
 * ends it at the first thing that is wrong. It has what the tests of deciding modules use, and says so when something is missing.
 */

type Body = (t: Test) => unknown;

/** Something that a test demands does not hold. */
export class Unmet extends Error {
  override readonly name = 'Unmet';
}

export class Test {
  readonly name: string;
  readonly #subtests: Promise<void>[] = [];
  readonly #teardowns: (() => unknown)[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #last: Promise<void> = Promise.resolve();

  constructor(name: string) {
    this.name = name;
  }

  /** Runs the body to its end, with the tests inside it one after another. Rejects at the first thing that is wrong. */
  async run(body: Body): Promise<void> {
    try {
      const given = body(this);
      if (given instanceof Promise) await given;
      else await this.#ended.promise;
      await Promise.all(this.#subtests);
    } finally {
      for (const teardown of this.#teardowns.reverse()) await teardown();
    }
  }

  test(name: string, ...rest: readonly unknown[]): Promise<void> {
    const body = rest.at(-1) as Body;
    this.#last = this.#last.then(() => new Test(name).run(body));
    this.#subtests.push(this.#last);
    return this.#last;
  }

  end(): void {
    this.#ended.resolve();
  }

  teardown(done: () => unknown): void {
    this.#teardowns.push(done);
  }

  comment(): void {}
  pass(): void {}

  ok(value: unknown, message?: string): void {
    demand(Boolean(value), () => message ?? `${inspect(value)} is not true`);
  }

  notOk(value: unknown, message?: string): void {
    demand(!value, () => message ?? `${inspect(value)} is true`);
  }

  equal(found: unknown, wanted: unknown, message?: string): void {
    demand(Object.is(found, wanted) || found === wanted, () => differing(found, wanted, message));
  }

  not(found: unknown, other: unknown, message?: string): void {
    demand(!Object.is(found, other), () => message ?? `both are ${inspect(found)}`);
  }

  same(found: unknown, wanted: unknown, message?: string): void {
    demand(isSame(found, wanted), () => differing(found, wanted, message));
  }

  notSame(found: unknown, other: unknown, message?: string): void {
    demand(!isSame(found, other), () => message ?? `both are ${inspect(found)}`);
  }

  match(found: unknown, pattern: unknown, message?: string): void {
    demand(isLike(found, pattern), () => differing(found, pattern, message));
  }

  notMatch(found: unknown, pattern: unknown, message?: string): void {
    demand(!isLike(found, pattern), () => message ?? `${inspect(found)} is like ${inspect(pattern)}`);
  }

  throws(run: () => unknown, ...rest: readonly unknown[]): void {
    try {
      run();
    } catch (error) {
      demandError(error, rest);
      return;
    }
    throw new Unmet('nothing was thrown');
  }

  doesNotThrow(run: () => unknown): void {
    run();
  }

  async rejects(promised: Promise<unknown> | (() => Promise<unknown>), ...rest: readonly unknown[]): Promise<void> {
    try {
      await (typeof promised === 'function' ? promised() : promised);
    } catch (error) {
      demandError(error, rest);
      return;
    }
    throw new Unmet('nothing was rejected');
  }
}

function demand(isMet: boolean, message: () => string): void {
  if (!isMet) throw new Unmet(message());
}

function demandError(error: unknown, [wanted]: readonly unknown[]): void {
  if (wanted === undefined || typeof wanted === 'string') return;
  const text = error instanceof Error ? error.message : String(error);
  const isWanted =
    wanted instanceof RegExp
      ? wanted.test(text)
      : wanted instanceof Error
        ? text === wanted.message
        : isLike(error, wanted);
  demand(isWanted, () => differing(error, wanted, 'another error'));
}

const differing = (found: unknown, wanted: unknown, message = ''): string =>
  `${message} found ${inspect(found, { breakLength: 200 })}, wanted ${inspect(wanted, { breakLength: 200 })}`;

/** As tap has it: equal by ==, through and through. */
function isSame(found: unknown, wanted: unknown): boolean {
  // oxlint-disable-next-line eqeqeq -- 1 and '1' are the same to tap, and so are null and undefined
  if (Object.is(found, wanted) || found == wanted) return true;
  if (typeof found !== 'object' || typeof wanted !== 'object' || found === null || wanted === null) return false;
  if (found instanceof Date && wanted instanceof Date) return found.getTime() === wanted.getTime();
  if (found instanceof Error && wanted instanceof Error) return found.message === wanted.message;
  if (found instanceof Set && wanted instanceof Set) {
    return found.size === wanted.size && [...found].every((one) => [...wanted].some((other) => isSame(one, other)));
  }
  if (found instanceof Map && wanted instanceof Map) {
    return (
      found.size === wanted.size && [...found].every(([key, one]) => wanted.has(key) && isSame(one, wanted.get(key)))
    );
  }
  if (Array.isArray(found) !== Array.isArray(wanted) || ArrayBuffer.isView(found) !== ArrayBuffer.isView(wanted)) {
    return false;
  }
  const [own, other] = [found, wanted] as Readonly<Record<string, unknown>>[];
  const names = Object.keys(own ?? {});
  return (
    names.length === Object.keys(other ?? {}).length &&
    names.every((name) => Object.hasOwn(other ?? {}, name) && isSame(own?.[name], other?.[name]))
  );
}

/** As tap has it: what the pattern names is there and is like it, whatever else is there. */
function isLike(found: unknown, pattern: unknown): boolean {
  if (Object.is(found, pattern)) return true;
  if (pattern instanceof RegExp) return pattern.test(String(found));
  if (typeof pattern === 'function') return isOfKind(found, pattern);
  if (typeof pattern === 'string' && typeof found === 'string') return found.includes(pattern);
  if (typeof pattern !== 'object' || pattern === null) return isSame(found, pattern);
  if (typeof found !== 'object' || found === null) return false;
  if (pattern instanceof Map || pattern instanceof Set || pattern instanceof Date || ArrayBuffer.isView(pattern)) {
    return isSame(found, pattern);
  }
  const fields = found as Readonly<Record<string, unknown>>;
  return Object.entries(pattern).every(([name, value]) => isLike(fields[name], value));
}

function isOfKind(found: unknown, kind: { readonly name: string }): boolean {
  const primitive = kind.name.toLowerCase();
  return typeof found === primitive || (typeof kind === 'function' && found instanceof (kind as never));
}

/** Tests of the file that is being imported. */
let declared: { readonly name: string; readonly body: Body }[] = [];

/** The tests that were declared since this was last asked. */
export function takeDeclared(): typeof declared {
  const tests = declared;
  declared = [];
  return tests;
}

/** Outside of all tests: declares them. What it demands counts for the test that runs. */
class Root extends Test {
  override test(name: string, ...rest: readonly unknown[]): Promise<void> {
    declared.push({ name, body: rest.at(-1) as Body });
    return Promise.resolve();
  }

  override teardown(): void {}
}

export default new Root('');
