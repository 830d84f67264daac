import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { statisticsRoutes } from './routes.ts';

export { iso, latencyAnswer, secondsAnswer, windowAnswer } from './answer.ts';
export { addTime, addTimes, availabilityOf, noTime } from './availability.ts';
export type { Availability, Counting, TimeByStatus } from './availability.ts';
export { bucketEdges } from './buckets.ts';
export { daysOfZone, periodAt } from './calendar.ts';
export type { Calendar } from './calendar.ts';
export { createAvailabilityFold } from './availability-fold.ts';
export type { AvailabilityReport, DayBounds, DayFigures } from './availability-fold.ts';
export { ofSubject, readProbeFigures, readSummary, windowOf } from './gateway.ts';
export { latencyFigures, milliseconds } from './latency.ts';
export type { LatencyFigures } from './latency.ts';
export type { Outage } from './outages.ts';
export type { ProbeFigures } from './probes.ts';
export { findSubject, findSubjects } from './queries.ts';
export type { Subject } from './queries.ts';
export { measuredSpans } from './spans.ts';
export type { ReportRange, Span, TimeInterval } from './spans.ts';
export { readAvailability } from './timeline/queries.ts';
export { lastHours, normalLagMs, wantedWindow } from './window.ts';
export type { ReportWindow, WantedWindow } from './window.ts';

/** What a monitor's results and ranges come to: availability, numbers of checks, response times. */
export const statisticsCapability: Capability<Context> = { name: 'statistics', routes: statisticsRoutes };
