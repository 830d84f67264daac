import type { MailPicture } from '../../../platform/mail/mail.ts';
import { encodePng } from '../../../platform/png/encode-png.ts';
import { drawLines } from '../../../platform/png/line-picture.ts';
import type { SlaReport } from '../../sla/index.ts';
import type { Content } from '../making/content.ts';

/** A chart of response times, with what stands beside it. It has no words, so that it is the same for readers of every language. */
export type LatencyPicture = MailPicture & {
  readonly subject: string;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
};

const mostPictures = 3;
// Twice the size at which it is shown.
const size = { width: 1_080, height: 150 };

/** Charts of the least available monitors that have answered. */
export function latencyPictures({ chapters }: Pick<Content, 'chapters'>): readonly LatencyPicture[] {
  return chapters
    .filter(({ latencySteps }) => latencySteps.filter(({ count }) => count > 0).length > 1)
    .slice(0, mostPictures)
    .map((chapter, index) => ({
      cid: `latency-${index + 1}@parallax`,
      name: `response-times-${index + 1}.png`,
      png: encodePng(pictureOf(chapter)).toString('base64'),
      subject: chapter.monitor.name,
      p50Ms: chapter.latency.p50Ms,
      p95Ms: chapter.latency.p95Ms,
    }));
}

function pictureOf({ latencySteps, window }: SlaReport) {
  const highest = latencySteps.reduce((most, { p95Ms }) => Math.max(most, p95Ms ?? 0), 0) * 1.05 || 1;
  const lengthMs = Math.max(1, window.toMs - window.fromMs);
  const points = (valueOf: (step: SlaReport['latencySteps'][number]) => number | null) =>
    latencySteps.map((step) => {
      const value = valueOf(step);
      const middleMs = (step.fromMs + step.toMs) / 2;
      return value === null ? null : { x: (middleMs - window.fromMs) / lengthMs, y: Math.min(1, value / highest) };
    });
  return drawLines({
    ...size,
    background: '#ffffff',
    rules: [0, 0.5, 1],
    ruleColor: '#d9dee6',
    lines: [
      { points: points(({ p95Ms }) => p95Ms), color: '#8fb3dc', thickness: 3 },
      { points: points(({ p50Ms }) => p50Ms), color: '#1d4f91', thickness: 4 },
    ],
  });
}
