import type { DocumentRequest } from '../view/page-document.ts';
import type { Locale } from '../view/locale.ts';
import type { IncidentView, MaintenanceView, PageView } from '../view/page-view.ts';
import { escapeMarkup, paragraphs } from './markup.ts';
import { incidentUrl, maintenanceUrl } from './places.ts';
import { timeText } from './time-text.ts';
import { incidentTitle, maintenanceTitle, updateBody, wordsOf } from './words.ts';
import type { FormatWords } from './words.ts';

/** A feed as plain data, before it is written in one of its forms. */
export type Feed = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly locale: Locale;
  readonly pageUrl: string;
  /** Without its ending: `.rss`, `.atom` and `.json` are beside each other. */
  readonly selfUrl: string;
  readonly updatedMs: number;
  readonly entries: readonly FeedEntry[];
};

export type FeedEntry = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly html: string;
  readonly publishedMs: number;
  readonly updatedMs: number;
  readonly tags: readonly string[];
};

const maxEntries = 50;

/**
 * An incident is one entry, whose content lists its updates and whose time is that of the newest, as feeds of status pages in general do. An entry
 * for each update would fill a feed with one long incident, and programs that read feeds would show its parts without the whole. They know an entry by
 * its id, which stays, and see by its time that it changed.
 * @param asked its `id` names the component or section that the feed is about; empty: the whole page
 * @returns null where the page has no such component
 */
export function feedOf(view: PageView, asked: DocumentRequest): Feed | null {
  const words = wordsOf(asked.locale);
  const subject = asked.id === '' ? wholePage : subjectOf(view, asked.id);
  if (subject === null) return null;
  const concerns = ({ componentIds }: { readonly componentIds: readonly string[] }): boolean =>
    subject.componentIds === null || componentIds.some((id) => subject.componentIds?.has(id));
  const entries = [
    ...view.incidents.filter(concerns).map((incident) => incidentEntry(view, incident, words, asked.locale)),
    ...view.maintenance.filter(concerns).map((maintenance) => maintenanceEntry(view, maintenance, words, asked.locale)),
  ];
  const name = subject.name === null ? view.name : `${view.name} – ${subject.name}`;
  return {
    id: idOf(view, ...(asked.id === '' ? ['feed'] : ['component', asked.id])),
    title: `${name}: ${words.history}`,
    description: view.description,
    locale: asked.locale,
    pageUrl: view.url,
    selfUrl: asked.id === '' ? `${view.url}/feed` : `${view.url}/components/${asked.id}/feed`,
    updatedMs: Math.max(view.madeMs, ...entries.map(({ updatedMs }) => updatedMs)),
    entries: entries.toSorted((a, b) => b.updatedMs - a.updatedMs).slice(0, maxEntries),
  };
}

/** `componentIds` null: all. */
type Subject = { readonly name: string | null; readonly componentIds: ReadonlySet<string> | null };

const wholePage: Subject = { name: null, componentIds: null };

function subjectOf(view: PageView, id: string): Subject | null {
  for (const section of view.sections) {
    if (section.id === id) {
      return { name: section.name, componentIds: new Set(section.components.map((component) => component.id)) };
    }
    const component = section.components.find((each) => each.id === id);
    if (component !== undefined) return { name: component.name, componentIds: new Set([id]) };
  }
  return null;
}

/** Ids outlive a page's address, so that nobody is told all anew when it moves: they are names, and lead nowhere. */
const idOf = (view: PageView, ...parts: readonly string[]): string => ['urn:x-parallax', view.id, ...parts].join(':');

function incidentEntry(view: PageView, incident: IncidentView, words: FormatWords, locale: Locale): FeedEntry {
  const updates = incident.updates.map((update) => {
    const time = timeText(update.displayMs, view.timezone, locale);
    const status = escapeMarkup(words.statuses[update.status]);
    return `<p><small>${time}</small><br><strong>${status}</strong></p>${paragraphs(updateBody(update, words))}`;
  });
  const newestMs = Math.max(incident.startedMs, ...incident.updates.map(({ displayMs }) => displayMs));
  return {
    id: idOf(view, 'incident', incident.id),
    url: incidentUrl(view, incident),
    title: incidentTitle(incident, words),
    html: [
      ...updates,
      ...affectedLine(incident.componentNames, words),
      ...(incident.postmortem === null
        ? []
        : [`<p><strong>${words.statuses.postmortem}</strong></p>${paragraphs(incident.postmortem)}`]),
    ].join('\n'),
    publishedMs: incident.startedMs,
    updatedMs: newestMs,
    tags: incident.componentNames,
  };
}

function maintenanceEntry(view: PageView, maintenance: MaintenanceView, words: FormatWords, locale: Locale): FeedEntry {
  const { status, startsMs, endsMs, updatedMs } = maintenance;
  const times = [startsMs, endsMs].map((ms) => timeText(ms, view.timezone, locale)).join(' – ');
  const word = escapeMarkup(words.statuses[status]);
  // It was announced before it began: an entry with a time to come would stay the newest of all until then.
  const announcedMs = Math.min(updatedMs, startsMs);
  const reachedMs = { scheduled: announcedMs, in_progress: startsMs, completed: endsMs }[status];
  return {
    id: idOf(view, 'maintenance', maintenance.id),
    url: maintenanceUrl(view, maintenance),
    title:
      maintenance.title === null ? words.maintenance : `${words.maintenance}: ${maintenanceTitle(maintenance, words)}`,
    html: [
      `<p><small>${times}</small><br><strong>${word}</strong></p>`,
      ...(maintenance.text === null ? [] : [paragraphs(maintenance.text)]),
      ...affectedLine(maintenance.componentNames, words),
    ].join('\n'),
    publishedMs: announcedMs,
    updatedMs: Math.max(announcedMs, reachedMs),
    tags: maintenance.componentNames,
  };
}

function affectedLine(names: readonly string[], { affected }: FormatWords): string[] {
  return names.length === 0 ? [] : [`<p>${affected}: ${escapeMarkup(names.join(', '))}</p>`];
}
