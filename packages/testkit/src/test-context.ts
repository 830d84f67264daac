/** The part of a tap test that the helpers use. */
export type TestContext = {
  teardown(handler: () => unknown): unknown;
};
