import { Histogram } from 'prom-client';

/** A value of a metric as the registry prints it. */
type Printed = {
  readonly metricName: string;
  readonly labels: { readonly le?: number | '+Inf' };
  readonly value: number;
};

/** A histogram without labels. Counting is all that `count` does: the library's own takes as long for a value as logging a result. */
export class LightHistogram extends Histogram {
  readonly #about: { readonly name: string; readonly help: string };
  readonly #bounds: readonly number[];
  /** Values up to each bound and above the one before; the last place is for those above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds ascending */
  constructor(name: string, help: string, bounds: readonly number[]) {
    super({ name, help, registers: [], buckets: [...bounds] });
    this.#about = { name, help };
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  count(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? Infinity)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  override async get() {
    const { name, help } = this.#about;
    let reached = 0;
    const values: Printed[] = this.#counts.map((count, at) => {
      reached += count;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? '+Inf' }, value: reached };
    });
    values.push({ metricName: `${name}_sum`, labels: {}, value: this.#sum });
    values.push({ metricName: `${name}_count`, labels: {}, value: reached });
    return { name, help, type: 'histogram', values, aggregator: 'sum' } as unknown as Awaited<
      ReturnType<Histogram['get']>
    >;
  }

  /** What the registry asks first. */
  getForPromString() {
    return this.get();
  }
}
