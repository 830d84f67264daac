// The text of docs/checks.md, from the registry of check types and their sources; a setting without a meaning is an error.
import {
  checkTypeOf,
  codeMeanings,
  commonShape,
  errorCodes,
  nameShape,
  outcomes,
  protocols,
  proxyShape,
  settingsSchema,
} from '@parallax/checks';
import type { ErrorCode, Outcome, Protocol } from '@parallax/checks';
import { z } from 'zod';
import { codesOf, filesOf, propertyComments, sourceText } from './checks-docs/source.ts';
import { cell, type Json, settingsTable } from './checks-docs/schema.ts';
import {
  comparisons,
  maxAssertions,
  maxDepth,
  maxPatterns,
  subjects,
} from '../packages/checks/src/assertions/settings.ts';

const meanings: Readonly<Record<Outcome, string>> = {
  ok: 'answered as it should',
  slow: 'answered, above a threshold, or an assertion of severity `degraded` does not hold',
  warn: 'answered, but something will soon be wrong, or an assertion of severity `warn` does not hold',
  fail: 'the target is wrong or refuses',
  timeout: 'no answer within the timeout of the monitor',
  skipped: 'not run',
  probe_error: 'the fault of the probe itself; says nothing about the target',
};

/** What settings of the same name mean wherever nothing more is said of them. */
const usual: ReadonlyArray<readonly [string, string]> = [
  ['ip_version', 'Only addresses of this family.'],
  ['username', 'The user to log in as.'],
  ['password', 'The password of the user.'],
  ['verify_tls', 'Whether a certificate that cannot be trusted is a failure.'],
  ['method', 'The method of the request.'],
  ['headers', 'Headers of the request.'],
  ['body', 'The body of the request.'],
  ['follow_redirects', 'Whether redirects are followed, each address judged anew.'],
  ['bearer_token', 'Sent as `Authorization: Bearer`.'],
  ['record_type', 'The type of the record that is asked for.'],
  ['client_id', 'Who the client says it is.'],
  ['client_secret', 'Its secret.'],
  ['scope', 'What the token is asked for.'],
  [
    'warn_days_before_expiry',
    'Days before the end of the certificate from which on the check warns; 0 switches it off.',
  ],
  ['ca_certificates', 'Authorities in PEM form to trust instead of the public ones.'],
  ['expected_banner', 'A text that has to occur in what the server says first.'],
  ['database', 'The database that is opened.'],
  ['query', 'What is asked after the login.'],
  ['min_rows', 'Rows that the answer must have at least.'],
  ['max_rows', 'Rows that the answer may have at most.'],
  ['tls', 'Whether TLS is used, and whether the certificate is verified.'],
  ['version', 'The version of the protocol that is spoken.'],
  ['qos', 'How surely the messages are delivered: 0 at most once, 1 at least once, 2 exactly once.'],
  ['vhost', 'The virtual host that is opened.'],
];

const commonNames = new Set([
  ...Object.keys({ ...commonShape(), ...nameShape(), ...proxyShape() }),
  'detect_stub_pages',
]);
/** Types that have a setting, or that have it not. */
const typesWith = (name: string, has = true): string =>
  protocols
    .filter((protocol) => Object.hasOwn(propertiesOf(protocol), name) === has)
    .map((protocol) => `\`${protocol}\``)
    .join(', ');
const commonComments = propertyComments(['common-settings.ts']);

function propertiesOf(protocol: Protocol): Readonly<Record<string, Json>> {
  const schema = z.toJSONSchema(settingsSchema(protocol), {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  }) as Json;
  return schema.properties ?? {};
}

/** Protocols that share their settings, in the order of the registry. */
function families(): readonly (readonly Protocol[])[] {
  const bySettings = new Map<unknown, Protocol[]>();
  for (const protocol of protocols) {
    const key = settingsSchema(protocol);
    bySettings.set(key, [...(bySettings.get(key) ?? []), protocol]);
  }
  return [...bySettings.values()];
}

function section(names: readonly Protocol[]): string {
  const [first] = names;
  if (first === undefined) return '';
  const { requires, requiresFor, cheap, secretFields, reference } = checkTypeOf(first);
  const summaries = [...new Set(names.map((name) => `${checkTypeOf(name).summary}.`))].join(' ');
  const own = Object.fromEntries(Object.entries(propertiesOf(first)).filter(([name]) => !commonNames.has(name)));
  const notes = [
    `Target: ${reference.targets.map((target) => `\`${target}\``).join(', ')}.`,
    requires.length > 0 ? `Needs a probe with the capability ${requires.join(' and ')}.` : '',
    ...reference.targets.map((target) => {
      const more = requiresFor?.({ url: target }) ?? [];
      return more.length === 0
        ? ''
        : `A target such as \`${target}\` needs a probe with the capability ${more.join(' and ')}.`;
    }),
    cheap ? '' : 'Not asked again at once while it fails: it is costly for the target or for others.',
  ].filter((each) => each !== '');
  const table =
    Object.keys(own).length === 0
      ? 'No settings of its own.'
      : settingsTable(own, new Map([...usual, ...propertyComments(filesOf(first))]), secretFields);
  const result = [
    `Phases: ${reference.phases.map((phase) => `\`${phase}\``).join(', ')}.`,
    factsOf(reference.details),
    `Error codes beside those of every type: ${codesLine(first)}.`,
  ].filter((each) => each !== '');
  return [
    `### ${names.map((name) => `\`${name}\``).join(', ')}`,
    summaries,
    ...notes,
    table,
    ...result,
    exampleOf(first),
  ].join('\n\n');
}

function typeOf(name: string): string {
  const found = new RegExp(`export type ${name} = \\{[^]*?\\n\\};`).exec(sourceText('outcome.ts'))?.[0];
  if (found === undefined) throw new Error(`outcome.ts has no type ${name} as it is expected.`);
  return found.replace('export type', 'type').replaceAll('readonly ', '');
}

const allCodes = Object.keys(errorCodes) as ErrorCode[];

/** Codes that most types share, under a name: where they stand together, the name does for all. */
const codeGroups = {
  'names and addresses': codesNamed(
    /^(?:dns_(?:nxdomain|no_answer|timeout|servfail|refused)|address_(?:denied|family_missing))$/,
  ),
  connections: codesNamed(/^connect_/),
  certificates: codesNamed(/^tls_(?!fingerprint|expires_soon|client_certificate)/),
};
/** What can happen to a check of any type. */
const ofAnyType = codesNamed(
  /^(?:response_slow|inverted_answer|target_invalid|overrun|overload|probe_.*|cancelled|assertion_failed|address_partial)$/,
);

function codesNamed(pattern: RegExp): readonly ErrorCode[] {
  return allCodes.filter((code) => pattern.test(code));
}

/** The codes of a type, with the groups that it has as a whole under their names. */
function codesLine(protocol: Protocol): string {
  const speaksTls = checkTypeOf(protocol).reference.phases.includes('tls');
  const own = codesOf(protocol, allCodes, speaksTls).filter((code) => !ofAnyType.some((each) => each === code));
  const groups = Object.entries(codeGroups).filter(([, codes]) => codes.every((code) => own.includes(code)));
  const grouped = new Set<string>(groups.flatMap(([, codes]) => codes));
  const named = groups.map(([name]) => `those of ${name}`);
  const alone = own.filter((code) => !grouped.has(code)).map((code) => `\`${code}\``);
  return [...named, ...alone].join(', ');
}

function exampleOf(protocol: Protocol): string {
  const { targets, settings } = checkTypeOf(protocol).reference;
  const body = { workspace_id: 1, name: 'Example', protocol, url: targets[0], ...(settings && { settings }) };
  return `\`\`\`json\n${JSON.stringify(body)}\n\`\`\``;
}

function factsOf(details: Readonly<Record<string, string>>): string {
  const facts = Object.entries(details).map(
    ([name, says]) => `\`${name}\` ${says.charAt(0).toLowerCase()}${says.slice(1, -1)}`,
  );
  return facts.length === 0 ? '' : `Facts in \`details\`: ${facts.join('; ')}.`;
}

function codesTable(): string {
  const rows = allCodes.map((name) => `| \`${name}\` | ${errorCodes[name]} | ${cell(codeMeanings[name])} |`);
  return ['| code | number | meaning |', '|---|---|---|', ...rows].join('\n');
}

const commonTable = settingsTable(
  Object.fromEntries(
    Object.entries(propertiesOf('http'))
      .filter(([name]) => commonNames.has(name))
      .map(([name, schema]) => [name, name === 'assertions' ? { type: 'object' } : schema]),
  ),
  commonComments,
  ['proxy_password'],
);

const subjectRows = Object.entries(subjects).map(([name, says]) => `| \`${name}\` | ${cell(says)} |`);

export const text = `# Checks

Made from the registry of check types by \`npm run checks-docs\`. A monitor names a type as its \`protocol\` and carries the settings below;
an unknown setting is an error. Secret settings are sealed at rest and never answered. The example of each type is a body of
\`POST /api/v1/monitors\`; \`probe-agent check TARGET --type TYPE --set name=value\` runs the same check from a machine.

## Settings of every type

None of them is stored where it is not used. \`detect_stub_pages\` belongs to \`http\` and \`https\`; \`resolver\` to every type but
${typesWith('resolver', false)}; \`proxy\` and what begins with it to ${typesWith('proxy')}.
Elsewhere they are refused with the code \`unrecognized_keys\`.

${commonTable}

### Proxies and name servers

With \`proxy\` the check connects to the proxy, and the proxy to the target, by its name where it has one. The proxy has to allow CONNECT to the
port of the target, also for \`http\`. \`phases.dns\` is then the look-up of the proxy's own name (by \`resolver\` where that is set), and
\`phases.connect\` lasts until the proxy has connected. \`evidence.address\` is that of the proxy. A proxy that cannot be reached, breaks
its protocol or refuses the target by its rules is \`proxy_error\`, one that wants another login is \`proxy_auth\`; a target that it does not reach is
\`connect_refused\`, \`connect_unreachable\`, \`connect_timeout\` or \`connect_failed\`. All of them count as failures of the check, since the
proxy was chosen for it. Names that end in \`localhost\`, \`local\` or \`internal\` are looked up by the probe, and the address is judged.

With \`resolver\` neither the probe's name servers nor its hosts file are asked. What fails there has the source \`resolver\`. The evidence of every
failure names what was set (\`details.proxy\`, \`details.resolver\`), and a trace has the steps \`proxy\` and \`resolver\`. The diagnosis of a
disagreement asks the same name servers, and looks at the proxy in the place of the target: nothing else is on the way of the check.

### Assertions

A tree: \`{"all": [...]}\` holds when all of its children do and is as grave as the gravest, \`{"any": [...]}\` when one does and is else as
grave as the mildest, and an assertion has a \`subject\`, for some a \`name\`, a \`comparison\`, a \`value\`, and if wanted \`ignore_case\` and a
\`severity\`: \`fail\` (the default), \`degraded\` (the outcome \`slow\`) or \`warn\`. At most ${maxDepth} levels, ${maxAssertions} assertions and ${maxPatterns} patterns.
They are asked of answers that are good by the settings of the type, so a status that is to be asserted has to be an expected one.

\`\`\`json
{"all": [{"subject": "json", "name": "$.queue.length()", "comparison": "at_most", "value": 100, "severity": "degraded"},
         {"any": [{"subject": "header", "name": "x-cache", "comparison": "equals", "value": "HIT"},
                  {"subject": "phase", "name": "first_byte", "comparison": "less", "value": 250}]}]}
\`\`\`

| subject | what it is |
|---|---|
${subjectRows.join('\n')}

Comparisons: ${comparisons.map((each) => `\`${each}\``).join(', ')}.

A positive one holds when one of the values of the subject fulfils it, a negative one when none does. \`one_of\` takes a list; the four that order take a number, or a version such as \`"8.0.36"\`; patterns are
those of RE2, with at most 256 characters and 256 steps: a repetition counts as often as it repeats, and a Unicode class counts as many. A fact that the run does not tell fails every comparison but \`not_exists\`.

A JSON path always names one value: \`$\` for the whole, then \`.name\`, \`['any name']\` and \`[index]\` (from the end when negative), at most
twenty; \`.length()\` at the end counts entries or characters. There are no wildcards, filters or expressions.

## Types

${families().map(section).join('\n\n')}

## Results

| outcome | meaning |
|---|---|
${outcomes.map((each) => `| \`${each}\` | ${meanings[each]} |`).join('\n')}

The failure source of what is not good is \`target\`, \`resolver\` or \`probe\`. Phases are taken from a monotonic clock and answered in
milliseconds to the microsecond: \`dns_ms\`, \`connect_ms\`, \`tls_ms\`, \`first_byte_ms\`, \`transfer_ms\`. The evidence of a failure:

\`\`\`ts
${typeOf('Evidence')}

${typeOf('CertificateEvidence')}
\`\`\`

## Error codes

A code keeps its meaning and its number for ever. A result carries one sentence beside it that says more.

Every type: ${ofAnyType.map((code) => `\`${code}\``).join(', ')}.

With a proxy: ${codesNamed(/^proxy_/)
  .map((code) => `\`${code}\``)
  .join(', ')}.

${Object.entries(codeGroups)
  .map(([name, codes]) => `Those of ${name}: ${codes.map((code) => `\`${code}\``).join(', ')}.`)
  .join('\n\n')}

${codesTable()}
`;
