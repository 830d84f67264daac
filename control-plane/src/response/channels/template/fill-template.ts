import type { Message } from '../../messages/index.ts';

/** What a template may name, each with its meaning for the reference. */
export const templateFields = {
  id: 'the same however often this message is sent',
  subject_key: 'the same for all messages about one thing',
  kind: 'opened, updated, reminder, escalated, acknowledged, resolved, all_clear, information, digest or test',
  state: 'problem, recovered or information',
  severity: 'minor, major or critical',
  title: 'what happened, in one line',
  summary: 'one or two sentences',
  text: 'title, summary and facts as plain text of several lines',
  at: 'when it was decided that this is told, ISO 8601',
  started_at: 'when it began, ISO 8601, or nothing',
  ended_at: 'when it ended, ISO 8601, or nothing',
  url: 'the page of what it is about, or nothing',
  workspace_id: 'number of the workspace',
  workspace_name: 'its name',
  data: 'all facts for machines; as JSON where it is written {{json data}}',
} as const;
export type TemplateField = keyof typeof templateFields;

/** How a value is made safe where it stands. */
export type TemplateForm = 'json' | 'form' | 'xml' | 'text';

const placeholder = /\{\{\s*(json\s+)?([a-z_]{1,40})\s*\}\}/g;

/** Each may be as long as all that is known of an outage: without a bound, one short template would make bodies of many megabytes. */
const mostPlaceholders = 50;

/** What is wrong with a template, in one sentence; undefined when it can be filled. */
export function templateProblem(template: string, form: TemplateForm): string | undefined {
  const found = [...template.matchAll(placeholder)];
  if (found.length > mostPlaceholders) return `has more than ${mostPlaceholders} placeholders`;
  const unknown = found.find(([, , name]) => !isField(name ?? ''));
  if (unknown !== undefined)
    return `{{${unknown[2] ?? ''}}} is not a field; known are ${Object.keys(templateFields).join(', ')}`;
  if (/\{\{/.test(template.replaceAll(placeholder, ''))) return '{{ opens a placeholder that is not closed';
  if (form !== 'json') return undefined;
  try {
    JSON.parse(replaced(template, form, sample));
    return undefined;
  } catch {
    return 'is no JSON once it is filled: write "{{title}}" in quotes, and {{json data}} without';
  }
}

/** The template with the message's values: each is escaped for where it stands, and what stands in a value is never read as a placeholder. */
export function fillTemplate(template: string, form: TemplateForm, message: Message): string {
  return replaced(template, form, valuesOf(message));
}

type Values = Readonly<Record<TemplateField, string | number | Readonly<Record<string, unknown>>>>;

function replaced(template: string, form: TemplateForm, values: Values): string {
  return template.replaceAll(placeholder, (whole, json: string | undefined, name: string) => {
    if (!isField(name)) return whole;
    const value = values[name];
    if (json !== undefined) return escaped(JSON.stringify(value), form === 'json' ? 'text' : form);
    return escaped(typeof value === 'string' ? value : JSON.stringify(value), form);
  });
}

function escaped(text: string, form: TemplateForm): string {
  switch (form) {
    case 'json':
      return JSON.stringify(text).slice(1, -1);
    case 'form':
      return encodeURIComponent(text.toWellFormed());
    case 'xml':
      return text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;');
    case 'text':
      return text;
  }
}

function isField(name: string): name is TemplateField {
  return Object.hasOwn(templateFields, name);
}

function valuesOf(message: Message): Values {
  const lines = [message.title, message.summary, ...message.facts.map(({ label, value }) => `${label}: ${value}`)];
  return {
    id: message.id,
    subject_key: message.subjectKey,
    kind: message.kind,
    state: message.state,
    severity: message.severity,
    title: message.title,
    summary: message.summary,
    text: lines.filter((line) => line !== '').join('\n'),
    at: message.at,
    started_at: message.startedAt ?? '',
    ended_at: message.endedAt ?? '',
    url: message.links.find(({ purpose }) => purpose === 'open')?.url ?? '',
    workspace_id: message.workspace.id,
    workspace_name: message.workspace.name,
    data: message.data,
  };
}

/** Values that break what is not quoted. */
const sample: Values = {
  id: 'a b',
  subject_key: 'a b',
  kind: 'opened',
  state: 'problem',
  severity: 'major',
  title: 'a "b" \\',
  summary: 'a\nb',
  text: 'a\nb',
  at: '2026-01-01T00:00:00.000Z',
  started_at: '',
  ended_at: '',
  url: 'https://example.com/',
  workspace_id: 1,
  workspace_name: 'a "b"',
  data: { a: [1] },
};
