import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { hostileMessage, hostileTexts, sampleMessage } from '../testing/messages.ts';
import { fillTemplate, templateProblem } from './fill-template.ts';

void t.test('a template is judged when it is written', async (t) => {
  for (const good of [
    '{"a":"{{title}}","b":{{json data}}}',
    '[{{json title}}]',
    '{"n":{{ workspace_id }}}',
    '"{{ summary }}"',
    '{}',
    `[${'{{json data}},'.repeat(50)}0]`,
  ]) {
    t.equal(templateProblem(good, 'json'), undefined, good);
  }
  for (const wrong of [
    '{"a":{{title}}}',
    '{"a":"{{titel}}"}',
    '{"a":"{{title}"}',
    '{',
    'hello',
    '{"a":"{{json title}}"}',
    `[${'{{json data}},'.repeat(51)}0]`,
  ]) {
    t.type(templateProblem(wrong, 'json'), 'string', wrong);
  }
  t.equal(templateProblem('hello {{title}}', 'text'), undefined);
});

void t.test('whatever stands in a message, JSON stays JSON and says the same', async (t) => {
  const template = '{"text":"{{title}}: {{text}}","all":{{json data}},"title":{{json title}}}';
  const check = (text: string) => {
    const message = hostileMessage(text);
    const read = JSON.parse(fillTemplate(template, 'json', message)) as Record<string, unknown>;
    t.equal(read['title'], message.title);
    t.ok(String(read['text']).startsWith(`${message.title}: ${message.title}`));
    t.same(read['all'], message.data);
  };
  for (const text of hostileTexts) check(text);
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.toWellFormed()),
      check,
    ),
  );
});

void t.test('forms and XML are escaped for what they are, and values are not templates', async (t) => {
  const message = sampleMessage({ title: 'a&b=<c>"{{summary}}"' });
  t.equal(fillTemplate('t={{title}}', 'form', message), 't=a%26b%3D%3Cc%3E%22%7B%7Bsummary%7D%7D%22');
  t.equal(fillTemplate('<t>{{title}}</t>', 'xml', message), '<t>a&amp;b=&lt;c&gt;&quot;{{summary}}&quot;</t>');
  t.equal(fillTemplate('{{title}}', 'text', message), message.title);
});
