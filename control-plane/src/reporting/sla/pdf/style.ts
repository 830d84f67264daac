import type { TextStyle } from '../../../platform/pdf/paragraph.ts';
import type { TableStyle } from '../../../platform/pdf/table.ts';

/** Colours whose order survives printing in grey: the worse, the darker. */
export const colors = {
  ink: '#17202b',
  soft: '#55606e',
  faint: '#7c8794',
  rule: '#d8dde3',
  panel: '#f3f5f8',
  accent: '#1d4f91',
  good: '#1f7a4d',
  bad: '#a3231b',
  full: '#b4dfc5',
  nearly: '#cf9f22',
  poor: '#bf5a17',
  worst: '#7f1712',
  unmeasured: '#eef0f3',
  secondLine: '#8fb3dc',
} as const;

const style = (size: number, weight: TextStyle['weight'], leading: number): TextStyle => ({ size, weight, leading });

export const styles = {
  kicker: style(9, 'bold', 1.3),
  title: style(22, 'bold', 1.2),
  longTitle: style(15, 'bold', 1.25),
  target: style(10, 'regular', 1.35),
  label: style(7.5, 'regular', 1.35),
  value: style(9, 'regular', 1.35),
  huge: style(36, 'bold', 1.1),
  verdict: style(13, 'bold', 1.3),
  heading: style(13, 'bold', 1.3),
  subheading: style(9, 'bold', 1.3),
  body: style(8.5, 'regular', 1.45),
  small: style(8, 'regular', 1.4),
  foot: style(7.5, 'regular', 1.2),
} as const;

export const tableStyle: TableStyle = {
  size: 8,
  ink: colors.ink,
  headInk: colors.soft,
  rule: colors.rule,
  maxLines: 4,
};
