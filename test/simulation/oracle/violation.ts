/** A promise of the product that was broken. `rule` is the same for the same promise, so that a shrunk run can be seen to fail alike. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.rule = rule;
  }
}
