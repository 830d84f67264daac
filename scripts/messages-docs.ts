// Writes docs/messages.md: every kind of message in every language. With --check compares and exits 1 when it differs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { asShort, asText, compose, locales, samples } from '../control-plane/src/response/messages/index.ts';

const file = path.resolve(import.meta.dirname, '../docs/messages.md');

const names = { en: 'English', ru: 'Русский' } as const;

function fence(text: string): string {
  return ['```text', text, '```'].join('\n');
}

function section(name: string): string {
  const told = locales.flatMap((locale) => {
    const found = samples(locale).find((sample) => sample.name === name);
    if (found === undefined) throw new Error(`No sample "${name}" in ${locale}.`);
    const message = compose(found.notice);
    return [
      [
        `${names[locale]} (\`kind\` ${message.kind}, \`state\` ${message.state}), and as one short message:`,
        fence(asText(message)),
        fence(asShort(message)),
      ].join('\n\n'),
    ];
  });
  return [`## ${name.charAt(0).toUpperCase()}${name.slice(1)}`, ...told].join('\n\n');
}

const text = `# Messages

Made from \`control-plane/src/response/messages/samples.ts\` by \`npm run messages-docs\`: what people are told, in every language, as the plain text that
mails carry beside their HTML. Channels lay out the same parts (title, summary, facts, sections, links) as their service allows. \`kind\` and \`state\`
stand in the body of a webhook; services that keep alarms open one when the state is \`problem\` and close it when it is \`recovered\`.

Times stand in the reader's zone, which is named; the day is left out when it is today. Names and texts of others are shown without control characters and
without what would turn the direction of the line; what is too long is cut with "…". Where a channel allows little, sections are left out first, then
facts from the last on; title and links stay.

${samples('en')
  .map(({ name }) => section(name))
  .join('\n\n')}
`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
  console.log('docs/messages.md written');
} else if (existsSync(file) && readFileSync(file, 'utf8') === text) {
  console.log('docs/messages.md agrees with the samples');
} else {
  console.error('docs/messages.md differs from the samples\nrun: npm run messages-docs');
  process.exitCode = 1;
}
