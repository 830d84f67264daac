import { dayMs, hourMs } from '../packing/hours.ts';
import type { PackedDifference } from './hour-differences.ts';
import type { Look } from './look.ts';
import type { RangeDifference } from './range-differences.ts';

const time = (us: number): string => new Date(us / 1_000).toISOString();

/** What a look has found, a line each; the last one sums up. */
export function tellLook({ ranges, status, packed, fromUs, untilUs, underived }: Look): string[] {
  const count = ranges.length + (status === undefined ? 0 : 1) + packed.length;
  const about = fromUs < untilUs ? `from ${time(fromUs)} to ${time(untilUs)}` : 'nothing is known of that time';
  return [
    ...(underived === undefined
      ? []
      : [`ranges before ${time(underived.untilUs)} cannot be judged: ${underived.reason}`]),
    ...ranges.map(tellRange),
    ...(status === undefined ? [] : [`status: should be ${status.expected}, is ${status.found}`]),
    ...packed.map(tellPacked),
    count === 0 ? `no difference (${about})` : `${count} ${count === 1 ? 'difference' : 'differences'} (${about})`,
  ];
}

function tellRange({ voter, fromUs, toUs, expected, found }: RangeDifference): string {
  const whose = voter === null ? 'range' : voter === 0 ? 'range of the control plane' : `range of probe ${voter}`;
  if (fromUs === toUs) return `${whose}: is cut in two at ${time(fromUs)}`;
  const is = found.length === 0 ? 'not there' : found.join(' and ');
  return `${whose} from ${time(fromUs)} to ${time(toUs)}: should be ${expected ?? 'none'}, is ${is}`;
}

function tellPacked({ kind, at, probeId, what, isHealable }: PackedDifference): string {
  const start = new Date(at * (kind === 'hour' ? hourMs : dayMs)).toISOString();
  const shown = kind === 'hour' ? start.slice(0, 16) : start.slice(0, 10);
  return `${kind} ${shown} of probe ${probeId}: ${what}${isHealable ? '' : ' (its results are lost)'}`;
}
