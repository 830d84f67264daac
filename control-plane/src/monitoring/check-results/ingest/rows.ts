import type { BatchHeader, LostRange, ResultRecord } from '@parallax/wire';
import type { StoredResult } from '../../consensus/index.ts';

/** One result on its way into the database: what consensus reads, and the columns beside it. */
export type IngestRow = StoredResult & {
  readonly monitorId: number;
  /** As stored: the eight bits of the wire, and those of `flags.ts`. */
  readonly flags: number;
  readonly totalUs: number;
  readonly dnsUs: number | undefined;
  readonly connectUs: number | undefined;
  readonly tlsUs: number | undefined;
  readonly firstByteUs: number | undefined;
  readonly transferUs: number | undefined;
  readonly evidence: ResultRecord['evidence'];
};

/** Where a batch stands: sequence numbers are checked to be exact as numbers. */
export type Place = {
  readonly probeId: number;
  readonly epoch: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
};

export type { BatchHeader, LostRange };
