import type { ReportFormat } from '@parallax/api-contract';
import { wallOf } from '../../response/maintenance/index.ts';
import type { ReportPeriod } from './periods.ts';

/** `Shop 2026-11-01--2026-11-30.pdf` (ISO 8601), by the days of the report's zone. */
export function nameOfFile(
  { name, timezone }: { readonly name: string; readonly timezone: string },
  { fromMs, toMs }: ReportPeriod,
  format: ReportFormat,
): string {
  const day = (ms: number): string => new Date(wallOf(ms, timezone)).toISOString().slice(0, 10);
  const [first, last] = [day(fromMs), day(Math.max(fromMs, toMs - 1))];
  return `${name} ${first === last ? first : `${first}--${last}`}.${format}`;
}
