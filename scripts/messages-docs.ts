// The text of docs/messages.md: every kind of message in every language.
import { asShort, asText, compose, locales, samples } from '../control-plane/src/response/messages/index.ts';

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

export const text = `# Messages

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
