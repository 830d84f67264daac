import type { Message } from '../message.ts';
import { momentOf } from '../words/times.ts';
import type { Words } from '../words/words.ts';

/** What is decided of a message before its bounds are kept. */
export type Draft = Pick<Message, 'kind' | 'state' | 'severity' | 'title' | 'facts' | 'sections'> & {
  /** Sentences; empty ones are left out. */
  readonly sentences: readonly string[];
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly subjects: Message['subjects'];
  readonly subjectCount: number;
  /** Whether acknowledging or snoozing it makes sense. */
  readonly asksForAction: boolean;
  readonly openLabel: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** In which language, zone and at what time a message is written. */
export type Setting = {
  readonly words: Words;
  readonly zone: string;
  readonly nowMs: number;
};

/** A time as its reader is told it. */
export function told({ words, zone, nowMs }: Setting, ms: number): string {
  return momentOf(words.dates, zone, ms, nowMs);
}

/** As data has it; null stays null. */
export function iso(ms: number | null): string | null {
  return ms === null || !Number.isFinite(ms) ? null : new Date(ms).toISOString();
}

/** Facts whose value is there. */
export function factsOf(
  ...facts: readonly (readonly [label: string, value: string | null | undefined])[]
): Draft['facts'] {
  return facts.flatMap(([label, value]) =>
    value === null || value === undefined || value === '' ? [] : [{ label, value }],
  );
}

/** Sections that have lines. */
export function sectionsOf(...sections: Draft['sections']): Draft['sections'] {
  return sections.filter(({ lines }) => lines.length > 0);
}
