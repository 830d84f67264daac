import type { Message } from '../../messages/message.ts';

/** A message as it is usual: one monitor is down. */
export function sampleMessage(overrides: Partial<Message> = {}): Message {
  return {
    id: 'n-17-1',
    subjectKey: 'incident:17',
    kind: 'opened',
    state: 'problem',
    severity: 'critical',
    locale: 'en',
    timezone: 'Europe/Berlin',
    at: '2026-03-01T02:00:05.000Z',
    startedAt: '2026-03-01T02:00:00.000Z',
    endedAt: null,
    title: 'Shop is down',
    summary: 'Three of three probes get no answer from https://shop.example.com/.',
    facts: [
      { label: 'Since', value: '03:00:00 (5 seconds)' },
      { label: 'Seen from', value: 'Frankfurt, Helsinki, New York' },
      { label: 'Next check', value: '03:00:30' },
    ],
    sections: [{ heading: 'What each probe got', lines: ['Frankfurt: connection refused', 'Helsinki: timeout'] }],
    links: [
      { purpose: 'open', label: 'Open the incident', url: 'https://monitor.example.com/incidents/17' },
      { purpose: 'acknowledge', label: 'Acknowledge', url: 'https://monitor.example.com/alerts/snooze/abc' },
      { purpose: 'snooze', label: 'Snooze', url: 'https://monitor.example.com/alerts/snooze/abc?for=1h' },
    ],
    workspace: { id: 3, name: 'Shops' },
    subjects: [{ type: 'monitor', id: 5, name: 'Shop' }],
    subjectCount: 1,
    data: { event: 'monitor.down', monitor: { id: 5, name: 'Shop' } },
    ...overrides,
  };
}

/** The same thing at its end. */
export function resolvedMessage(overrides: Partial<Message> = {}): Message {
  return sampleMessage({
    id: 'n-17-2',
    kind: 'resolved',
    state: 'recovered',
    title: 'Shop is up again',
    summary: 'It was down for 4 minutes.',
    endedAt: '2026-03-01T02:04:00.000Z',
    at: '2026-03-01T02:04:01.000Z',
    ...overrides,
  });
}

/** What others may put into names and texts: markup of every service, mentions, placeholders, line breaks of headers, direction marks. */
export const hostileTexts: readonly string[] = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>&amp;&#60;b&#62;',
  '</b></i><a href="https://evil.example/">here</a>',
  '*bold* _italic_ ~strike~ `code` ```block``` [text](https://evil.example/) ![x](https://evil.example/x.png)',
  '# heading\n> quote\n- list\n1. one\n|a|b|',
  '@everyone @here <!channel> <!here> <@U123> <@&5> @all @channel <at>all</at> @**all**',
  '{{title}} {{json data}} ${title} #{title} %s %(title)s {0} <%= title %>',
  'a\r\nBcc: victim@example.com\r\n\r\nbody',
  '\\" \\\\ \' "; DROP TABLE',
  '<https://evil.example/|click> <mailto:a@b.c|x>',
  '𝕊𝕙𝕠𝕡 商店 магазин متجر 👩‍👩‍👧‍👦 é',
];

/** A message whose every text is hostile in this way. */
export function hostileMessage(text: string, overrides: Partial<Message> = {}): Message {
  const line = text.replaceAll(/[\r\n]+/g, ' ').slice(0, 190);
  return sampleMessage({
    title: line,
    summary: line,
    facts: [{ label: line.slice(0, 60), value: line }],
    sections: [{ heading: line, lines: text.split(/\r?\n/) }],
    workspace: { id: 3, name: line.slice(0, 100) },
    subjects: [{ type: 'monitor', id: 5, name: line }],
    data: { event: 'monitor.down', name: text },
    ...overrides,
  });
}

/** As long as a message may be, of characters that take `character.length` units each. */
export function longMessage(character: string, overrides: Partial<Message> = {}): Message {
  const text = (characters: number) => character.repeat(Math.floor(characters / character.length));
  return sampleMessage({
    title: text(200),
    summary: text(600),
    facts: Array.from({ length: 12 }, (_each, at) => ({ label: `${at}${text(50)}`, value: text(300) })),
    sections: Array.from({ length: 8 }, () => ({
      heading: text(80),
      lines: Array.from({ length: 25 }, () => text(300)),
    })),
    subjects: Array.from({ length: 20 }, (_each, at) => ({ type: 'monitor', id: at + 1, name: text(200) })),
    subjectCount: 4_000,
    data: { event: 'monitor.down', text: text(3_000) },
    ...overrides,
  });
}
