import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { asHtml } from './as-html.ts';
import { compose } from './compose.ts';
import { hostileNotice, hostileText } from './hostile.fixture.ts';
import { locales } from './locale.ts';
import type { Locale } from './locale.ts';
import type { Message } from './message.ts';
import type { Notice } from './notice.ts';
import { isBalanced } from './plain.ts';
import { samples } from './samples.ts';

function noticeNamed(locale: Locale, wanted: string): Notice {
  const found = samples(locale).find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`no sample ${wanted}`);
  return found.notice;
}

/** Every text of a message that a person reads. */
function textsOf(message: Message): string[] {
  return [
    message.title,
    message.summary,
    ...message.facts.flatMap(({ label, value }) => [label, value]),
    ...message.sections.flatMap(({ heading, lines }) => [heading, ...lines]),
    ...message.links.map(({ label }) => label),
  ];
}

t.test('whatever others write, a message keeps its bounds and is plain', async (t) => {
  fc.assert(
    fc.property(hostileNotice, (notice) => {
      const message = compose(notice);
      t.match(message.id, /^[A-Za-z0-9._:-]{0,100}$/u);
      t.match(message.subjectKey, /^[A-Za-z0-9._:-]{0,100}$/u);
      t.ok(message.title.length > 0 && message.title.length <= 200, 'title');
      t.ok(message.summary.length <= 600, 'summary');
      t.ok(message.facts.length <= 12, 'facts');
      t.ok(message.sections.length <= 8, 'sections');
      t.ok(message.subjects.length <= 20, 'subjects');
      t.ok(message.subjectCount >= message.subjects.length);
      for (const { lines } of message.sections) t.ok(lines.length > 0 && lines.length <= 25, 'lines');
      for (const text of textsOf(message)) {
        const isPlain =
          text !== '' &&
          text.length <= 600 &&
          text.isWellFormed() &&
          isBalanced(text) &&
          !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066\u2067\u200b\u200e\u200f\ufeff]/u.test(text);
        if (!isPlain && text !== message.summary) t.fail('a plain text', { text });
      }
      t.ok(isBalanced(message.summary));
      t.notMatch(message.summary, /\p{Cc}/u);
      for (const { url } of message.links) t.match(url, /^https?:\/\/[\x21-\x7e]+$/u);
      t.ok(Buffer.byteLength(JSON.stringify(message.data)) <= 16_384, 'data');
      t.doesNotThrow(() => Intl.DateTimeFormat('en', { timeZone: message.timezone }));
      t.notMatch(textsOf(message).join('\n'), /\bInvalid Date\b|\bNaN\b|\[object /u);
    }),
    { numRuns: 150 },
  );
});

t.test('placeholders of others stay text', async (t) => {
  const notice = noticeNamed('en', 'opened');
  const subjects = notice.occasion?.subjects.map((subject) => ({ ...subject, name: '{{title}} ${x} $& %s' })) ?? [];
  const message = compose({ ...notice, occasion: notice.occasion === null ? null : { ...notice.occasion, subjects } });
  t.equal(message.title, '{{title}} ${x} $& %s is down');
});

t.test('a name that runs from right to left is held apart, one that is empty has a name', async (t) => {
  const notice = noticeNamed('en', 'opened');
  const named = (name: string): Message =>
    compose({
      ...notice,
      occasion:
        notice.occasion === null
          ? null
          : { ...notice.occasion, subjects: notice.occasion.subjects.map((subject) => ({ ...subject, name })) },
    });
  t.equal(named('חנות').title, '\u2068חנות\u2069 is down');
  t.equal(named('\u200b\u202e').title, '(no name) is down');
  t.ok(named('x'.repeat(500)).title.endsWith('… is down'), 'what happened is never cut away');
});

t.test('every kind is told in every language', async (t) => {
  for (const locale of locales) {
    for (const { name, notice } of samples(locale)) {
      const message = compose(notice);
      t.not(message.title, '', name);
      t.not(message.summary, '', `${name} has a summary`);
      t.notMatch(textsOf(message).join('\n'), /undefined|null|\s[,.]|\.\.|: :|\s\s/u, name);
      if (locale === 'ru')
        t.notMatch(message.title.replaceAll(/API|Parallax|[a-z0-9.-]+\.[a-z]+|office-1/gu, ''), /[A-Za-z]/u);
      t.same(compose(notice), message, 'the same notice is the same message');
    }
  }
});

t.test('a check that is due already is the next one: facts are read a moment before they are told', async (t) => {
  const notice = noticeNamed('en', 'opened');
  const { occasion } = notice;
  if (occasion === null) throw new Error('the sample has no occasion');
  const nextAt = (nextCheckMs: number | null) =>
    compose({ ...notice, occasion: { ...occasion, nextCheckMs } }).facts.find(({ label }) => label === 'Next check');
  const now = nextAt(notice.atMs);
  t.ok(now);
  t.same(nextAt(notice.atMs - 5), now);
  t.not(nextAt(notice.atMs + 60_000)?.value, now?.value);
  t.equal(nextAt(null), undefined);
});

t.test('what others write is cut before the sentence around it', async (t) => {
  fc.assert(
    fc.property(hostileText, (name) => {
      const notice = noticeNamed('ru', 'opened');
      if (notice.occasion === null) return;
      const subjects = notice.occasion.subjects.map((subject) => ({ ...subject, name }));
      t.ok(compose({ ...notice, occasion: { ...notice.occasion, subjects } }).title.endsWith(' не работает'));
    }),
  );
});

t.test('who is paged: problems open, ends close, news do neither', async (t) => {
  const states = new Map(samples('en').map(({ name, notice }) => [name, compose(notice).state]));
  for (const [name, state] of [
    ['opened', 'problem'],
    ['updated, it goes on', 'problem'],
    ['updated, somebody wrote', 'information'],
    ['reminder', 'problem'],
    ['escalated', 'problem'],
    ['acknowledged', 'information'],
    ['resolved', 'recovered'],
    ['resolved, by a person', 'recovered'],
    ['resolved, there was no outage', 'recovered'],
    ['recovered after it was resolved by a person', 'recovered'],
    ['was down', 'information'],
    ['flapping', 'information'],
    ['flapping no longer', 'information'],
    ['all clear after maintenance', 'information'],
    ['digest', 'problem'],
    ['end of quiet hours, all is well', 'information'],
    ['test', 'information'],
  ] as const)
    t.equal(states.get(name), state, name);
});

t.test('pages to act on are offered while there is something to do', async (t) => {
  const purposes = (name: string): string[] =>
    samples('en')
      .filter((sample) => sample.name === name)
      .flatMap(({ notice }) => compose(notice).links.map(({ purpose }) => purpose));
  t.same(purposes('opened'), ['open', 'acknowledge', 'snooze']);
  t.same(purposes('acknowledged'), ['open']);
  t.same(purposes('resolved'), ['open']);
});

t.test('what a job said is told in the words of the reader as far as they are known', async (t) => {
  const notice = noticeNamed('ru', 'opened, a heartbeat has failed');
  const told = (said: string): Message =>
    compose({ ...notice, occasion: notice.occasion === null ? null : { ...notice.occasion, said } });
  t.equal(told('overran').summary, 'Запуск длится дольше, чем можно.');
  t.equal(told('exit code 2: failed').summary, 'Завершилось с кодом 2.');
  t.equal(told('exit code 137').summary, 'Завершилось с кодом 137.');
  t.equal(told('no space left\non /var').summary, 'no space left.', 'foreign words keep their case');
  t.same(told('no space left\non /var').sections.at(-1)?.lines, ['no space left', 'on /var']);
  t.equal(told('no space left').summary, 'no space left.');
  t.notOk(
    told('no space left').facts.some(({ value }) => value.includes('no space left')),
    'once',
  );
  t.notOk(
    told('missed').facts.some(({ value }) => value === 'missed'),
    'words of the machine are not shown',
  );
});

t.test('who acknowledged did not resolve', async (t) => {
  const notice = noticeNamed('en', 'resolved');
  const occasion = notice.occasion === null ? null : { ...notice.occasion, by: 'Ann Lee', isAcknowledged: true };
  const { facts, summary } = compose({ ...notice, occasion });
  t.same(
    facts.filter(({ value }) => value === 'Ann Lee').map(({ label }) => label),
    ['Acknowledged by'],
  );
  t.notMatch(summary, /Ann/u);
});

t.test('closing words are told as what they are, whole where the summary has not all of them', async (t) => {
  const told = (locale: 'en' | 'ru', closing: string | null): Message => {
    const notice = noticeNamed(locale, 'resolved, by a person');
    return compose({ ...notice, occasion: notice.occasion === null ? null : { ...notice.occasion, closing } });
  };
  t.match(told('en', 'A cable was cut').summary, / Closing words: A cable was cut\.$/u);
  t.match(told('ru', 'Порвали кабель.').summary, / Комментарий при закрытии: Порвали кабель\.$/u);
  t.same(told('en', 'A cable was cut').sections, told('en', null).sections, 'they stand in the summary already');
  for (const none of [null, '', ' \n\t']) t.notMatch(told('en', none).summary, 'Closing words', JSON.stringify(none));
  const several = told('en', 'A cable was cut.\r\nIt lies deeper <b>now</b>.');
  t.match(several.summary, 'Closing words: A cable was cut. It lies deeper <b>now</b>.');
  t.same(
    several.sections.find(({ heading }) => heading === 'What was written')?.lines,
    ['A cable was cut.', 'It lies deeper <b>now</b>.'],
    'plain here; a channel escapes for its markup',
  );
  t.notMatch(asHtml(several), '<b>now</b>');
  t.match(asHtml(several), 'deeper &lt;b&gt;now');
  const long = told('en', 'x'.repeat(9_000));
  t.ok(long.summary.length <= 600 && long.sections.some(({ heading }) => heading === 'What was written'));
  t.same((told('en', 'A cable was cut').data as { closing_words: string }).closing_words, 'A cable was cut');
});

t.test(
  'steps of the escalation are counted as people do, and a reminder of what expires says how long it has',
  async (t) => {
    t.match(compose(noticeNamed('en', 'escalated')).summary, 'step 2 of the escalation');
    const reminder = compose({ ...noticeNamed('en', 'certificate expires'), kind: 'reminder', reminder: 1 });
    t.equal(reminder.title, 'The certificate of Shop expires in 7 days');
    t.equal(compose(noticeNamed('en', 'reminder')).title, 'Shop is still down (12 minutes)');
  },
);
