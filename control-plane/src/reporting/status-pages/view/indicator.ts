import { worstOf } from './component-status.ts';
import type { ComponentStatus, Indicator } from './page-view.ts';

const badness: Readonly<Record<Indicator, number>> = {
  unknown: 0,
  none: 1,
  maintenance: 2,
  minor: 3,
  major: 4,
  critical: 5,
};

const ofWord: Readonly<Record<ComponentStatus, Indicator>> = {
  unknown: 'unknown',
  operational: 'none',
  maintenance: 'maintenance',
  degraded: 'minor',
  partial_outage: 'minor',
  major_outage: 'critical',
};

/**
 * How bad a page is altogether.
 * @param severities those of public incidents by hand that last
 */
export function indicatorOf(
  components: readonly ComponentStatus[],
  severities: readonly ('minor' | 'major' | 'critical')[],
): Indicator {
  const isSomeDown = components.includes('major_outage');
  const worst = worstOf(components);
  const measured: Indicator = isSomeDown && worst !== 'major_outage' ? 'major' : ofWord[worst];
  return severities.reduce<Indicator>((bad, one) => (badness[one] > badness[bad] ? one : bad), measured);
}
