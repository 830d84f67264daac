import type { Locale, Message } from '../../messages/index.ts';

const words = {
  en: {
    title: 'Test message from Parallax',
    summary: 'This channel works: alerts that name it arrive here. Nothing is wrong with what is monitored.',
    open: 'Open Parallax',
  },
  ru: {
    title: 'Тестовое сообщение от Parallax',
    summary: 'Канал работает: оповещения, в которых он указан, придут сюда. С наблюдаемыми службами всё в порядке.',
    open: 'Открыть Parallax',
  },
} as const;

/**
 * What a test sends. Nothing in it comes from whoever asks for it, so that nobody sends words of their own to others by it.
 * @param id at most 60 characters of the alphabet of message ids, unique for each test
 */
export function testMessage(facts: {
  readonly id: string;
  readonly locale: Locale;
  readonly timezone: string;
  readonly nowMs: number;
  readonly publicUrl: string;
}): Message {
  const { title, summary, open } = words[facts.locale];
  return {
    id: `test-${facts.id}`,
    subjectKey: `test-${facts.id}`,
    kind: 'test',
    state: 'information',
    severity: 'minor',
    locale: facts.locale,
    timezone: facts.timezone,
    at: new Date(facts.nowMs).toISOString(),
    startedAt: null,
    endedAt: null,
    title,
    summary,
    facts: [],
    sections: [],
    links: [{ purpose: 'open', label: open, url: facts.publicUrl }],
    workspace: { id: 0, name: 'Parallax' },
    subjects: [],
    subjectCount: 0,
    data: { event: 'test' },
  };
}
