/** How the packets of one check are spread over its time, in whole milliseconds. */
export type PingPlan = {
  readonly count: number;
  /** Between two packets to one address. */
  readonly intervalMs: number;
  /** How long the last packet is waited for. */
  readonly packetTimeoutMs: number;
};

/** Waiting for others to share a process, and its start. */
const overheadMs = 150;

/** What is kept back of the time, in steps: pings of names that took a little longer to look up still share a process. */
const stepMs = 250;

/** Spreads `count` packets so that all of them, and the wait for the last, fit into the check's time, of which `spentMs` are gone. */
export function planPings(count: number, timeoutMs: number, spentMs = 0): PingPlan {
  const needed = overheadMs + spentMs;
  const kept = timeoutMs < 1000 ? needed : Math.ceil(needed / stepMs) * stepMs;
  const budget = Math.max(timeoutMs - kept, 60);
  const gaps = count - 1;
  const intervalMs = gaps === 0 ? 250 : Math.min(250, Math.max(10, Math.floor(budget / 2 / gaps)));
  const packetTimeoutMs = Math.min(5000, Math.max(20, Math.floor(budget - gaps * intervalMs)));
  return { count, intervalMs, packetTimeoutMs };
}

/** What came of the packets. Times are whole microseconds. */
export type PingStatistics = {
  readonly sent: number;
  readonly received: number;
  readonly lossPercent: number;
  readonly minUs: number;
  readonly averageUs: number;
  readonly maxUs: number;
  /** Mean difference between the round trips of neighbouring replies. */
  readonly jitterUs: number;
};

/** `roundTripsUs` in the order of the packets; undefined stands for a lost one. */
export function pingStatistics(roundTripsUs: readonly (number | undefined)[]): PingStatistics {
  const got = roundTripsUs.filter((each) => each !== undefined);
  const sent = roundTripsUs.length;
  const steps = got.slice(1).map((each, index) => Math.abs(each - (got[index] ?? each)));
  return {
    sent,
    received: got.length,
    lossPercent: sent === 0 ? 100 : ((sent - got.length) / sent) * 100,
    minUs: got.length === 0 ? 0 : Math.min(...got),
    averageUs: mean(got),
    maxUs: got.length === 0 ? 0 : Math.max(...got),
    jitterUs: mean(steps),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.round(values.reduce((sum, each) => sum + each, 0) / values.length);
}
