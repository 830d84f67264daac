import { BitsError } from './bits.ts';
import type { BitReader, BitWriter } from './bits.ts';
import { readNumbers, writeNumbers } from './numbers.ts';

/** Latencies in buckets of growing width: any quantile is off by at most 1 %, and sketches of parts give exactly that of the whole. */
export type Sketch = {
  readonly count: number;
  readonly sumUs: number;
  /** Null when nothing was counted; so `maxUs` and `meanUs`. */
  readonly minUs: number | null;
  readonly maxUs: number | null;
  readonly meanUs: number | null;
  /**
   * The quantile by nearest rank, in microseconds, at most 1 % off; null when nothing was counted.
   * @param q from 0 to 1
   */
  quantile(q: number): number | null;
  /** The buckets that hold something, in order: half-open bounds in microseconds. */
  buckets(): readonly SketchBucket[];
  /** Without what took no time at all: a look at the members of a group measures none, and its 0 is no latency. */
  timed(): Sketch;
};

export type SketchBucket = { readonly fromUs: number; readonly toUs: number; readonly count: number };

/*
 * The buckets of DDSketch (Masson, Rim and Lee, 2019): the lower bound of each is a power of `growth`, so whatever lies in a bucket is less than
 * 1 % from its middle. Bucket 0 holds 0, bucket b from growth^(b−1) on. The last one holds all that is longer than a column can tell.
 */
const growth = 1.02;
const perLog = 1 / Math.log(growth);
const longestUs = 2_147_483_647;
const bucketCount = Math.floor(Math.log(longestUs) * perLog) + 2;
/** What a bucket stands for: as far, in relation, from its one end as from its other. */
const middles = Float64Array.from({ length: bucketCount }, (_, bucket) =>
  bucket === 0 ? 0 : (2 * lowerBound(bucket) * growth) / (1 + growth),
);

/** Space for coding, used again. */
const gaps = new Float64Array(bucketCount);
const counts = new Float64Array(bucketCount);

/** Buckets that a sketch makes room for at once. */
const roomStep = 64;

/** A sketch that grows. */
export class LatencySketch implements Sketch {
  count = 0;
  sumUs = 0;
  #minUs = Number.POSITIVE_INFINITY;
  #maxUs = 0;
  /** Counts of the buckets from `#first` on: latencies of one target lie close together. */
  #counts = new Float64Array(0);
  #first = 0;

  get minUs(): number | null {
    return this.count === 0 ? null : this.#minUs;
  }

  get maxUs(): number | null {
    return this.count === 0 ? null : this.#maxUs;
  }

  get meanUs(): number | null {
    return this.count === 0 ? null : this.sumUs / this.count;
  }

  clear(): void {
    this.#counts.fill(0);
    this.count = 0;
    this.sumUs = 0;
    this.#minUs = Number.POSITIVE_INFINITY;
    this.#maxUs = 0;
  }

  /** @param us whole microseconds; less than none is none */
  add(us: number): void {
    const latencyUs = us < 0 ? 0 : us > longestUs ? longestUs : us;
    const bucket = bucketOf(latencyUs);
    this.#makeRoom(bucket, bucket);
    this.#addTo(bucket, 1);
    this.count += 1;
    this.sumUs += latencyUs;
    if (latencyUs < this.#minUs) this.#minUs = latencyUs;
    if (latencyUs > this.#maxUs) this.#maxUs = latencyUs;
  }

  addSketch(other: LatencySketch): void {
    if (other.count === 0) return;
    const first = bucketOf(other.#minUs);
    const last = bucketOf(other.#maxUs);
    this.#makeRoom(first, last);
    for (let bucket = first; bucket <= last; bucket += 1) this.#addTo(bucket, other.#at(bucket));
    this.#widen(other.count, other.sumUs, other.#minUs, other.#maxUs);
  }

  quantile(q: number): number | null {
    if (this.count === 0) return null;
    const rank = Math.min(this.count, Math.max(1, Math.ceil(q * this.count)));
    if (rank === this.count) return this.#maxUs;
    if (rank === 1) return this.#minUs;
    let bucket = bucketOf(this.#minUs);
    for (let below = this.#at(bucket); below < rank; below += this.#at(bucket)) bucket += 1;
    return Math.min(this.#maxUs, Math.max(this.#minUs, middles[bucket] ?? 0));
  }

  buckets(): readonly SketchBucket[] {
    const found: SketchBucket[] = [];
    if (this.count === 0) return found;
    const last = bucketOf(this.#maxUs);
    for (let bucket = bucketOf(this.#minUs); bucket <= last; bucket += 1) {
      const count = this.#at(bucket);
      if (count > 0) found.push({ fromUs: lowerBound(bucket), toUs: lowerBound(bucket + 1), count });
    }
    return found;
  }

  timed(): Sketch {
    const untimed = this.count === 0 ? 0 : this.#at(0);
    if (untimed === 0) return this;
    const rest = new LatencySketch();
    if (untimed === this.count) return rest;
    rest.addSketch(this);
    rest.#addTo(0, -untimed);
    rest.count -= untimed;
    // The least of the others is known to its bucket only.
    let bucket = 1;
    while (rest.#at(bucket) === 0) bucket += 1;
    rest.#minUs = Math.min(rest.#maxUs, Math.ceil(lowerBound(bucket)));
    return rest;
  }

  /** Writes all but the count, which is the sum of the buckets' counts and known to the reader. */
  write(out: BitWriter): void {
    if (this.count === 0) return;
    out.writeCount(this.sumUs);
    out.writeCount(this.#minUs);
    out.writeCount(this.#maxUs - this.#minUs);
    const first = bucketOf(this.#minUs);
    const last = bucketOf(this.#maxUs);
    let before = first - 1;
    let used = 0;
    for (let bucket = first; bucket <= last; bucket += 1) {
      const count = this.#at(bucket);
      if (count === 0) continue;
      gaps[used] = bucket - before;
      counts[used] = count;
      used += 1;
      before = bucket;
    }
    out.writeCount(used);
    writeNumbers(out, gaps, used);
    writeNumbers(out, counts, used);
  }

  /**
   * Adds a sketch of `count` latencies that `write` wrote.
   * @throws BitsError for what cannot have been written; the sketch is of no use then
   */
  addWritten(from: BitReader, count: number): void {
    if (count === 0) return;
    const sumUs = from.readCount();
    const minUs = from.readCount();
    const maxUs = minUs + from.readCount();
    if (maxUs > longestUs) throw new BitsError(`a latency of ${maxUs} µs`);
    const used = from.readCount();
    if (used > bucketCount) throw new BitsError(`${used} buckets`);
    readNumbers(from, gaps, used);
    readNumbers(from, counts, used);
    const last = bucketOf(maxUs);
    let bucket = bucketOf(minUs) - 1;
    this.#makeRoom(bucket + 1, last);
    let sum = 0;
    for (let index = 0; index < used; index += 1) {
      const gap = gaps[index] ?? 0;
      const held = counts[index] ?? 0;
      bucket += gap;
      if (!(gap >= 1 && held >= 1 && bucket <= last)) throw new BitsError(`${held} latencies in bucket ${bucket}`);
      this.#addTo(bucket, held);
      sum += held;
    }
    if (sum !== count || bucket !== last) {
      throw new BitsError(`${sum} latencies up to bucket ${bucket} where ${count} were expected`);
    }
    this.#widen(count, sumUs, minUs, maxUs);
  }

  #at(bucket: number): number {
    return this.#counts[bucket - this.#first] ?? 0;
  }

  /** There is room for the bucket. */
  #addTo(bucket: number, count: number): void {
    const place = bucket - this.#first;
    this.#counts[place] = (this.#counts[place] ?? 0) + count;
  }

  #makeRoom(from: number, to: number): void {
    const end = this.#first + this.#counts.length;
    if (from >= this.#first && to < end) return;
    const isNew = this.#counts.length === 0;
    const first = Math.floor((isNew ? from : Math.min(from, this.#first)) / roomStep) * roomStep;
    const next = Math.ceil(Math.max(isNew ? 0 : end, to + 1) / roomStep) * roomStep;
    const larger = new Float64Array(next - first);
    if (!isNew) larger.set(this.#counts, this.#first - first);
    this.#counts = larger;
    this.#first = first;
  }

  #widen(count: number, sumUs: number, minUs: number, maxUs: number): void {
    this.count += count;
    this.sumUs += sumUs;
    if (minUs < this.#minUs) this.#minUs = minUs;
    if (maxUs > this.#maxUs) this.#maxUs = maxUs;
  }
}

function bucketOf(us: number): number {
  return us < 1 ? 0 : Math.floor(Math.log(us) * perLog) + 1;
}

function lowerBound(bucket: number): number {
  return bucket === 0 ? 0 : growth ** (bucket - 1);
}
