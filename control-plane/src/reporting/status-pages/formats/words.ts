import type { IncidentView, Indicator, MaintenanceView, UpdateView } from '../view/page-view.ts';
import type { Locale } from '../view/locale.ts';

type UpdateStatus = UpdateView['status'] | MaintenanceView['status'];

/** What the documents of this folder say themselves, in one language. */
export type FormatWords = {
  /** What an incident without a title is called, after the names of its components. */
  readonly incident: Readonly<Record<IncidentView['impact'], string>>;
  readonly began: string;
  readonly ended: string;
  readonly maintenance: string;
  /** Bodies of the updates that a maintenance without its own text has. */
  readonly maintenanceBodies: Readonly<Record<MaintenanceView['status'], string>>;
  readonly affected: string;
  readonly indicators: Readonly<Record<Indicator, string>>;
  readonly statuses: Readonly<Record<UpdateStatus, string>>;
  /** Of a feed, after the page's name. */
  readonly history: string;
  readonly openPage: string;
  readonly dismiss: string;
};

/** The English words of indicators and updates are those of Statuspage, since programs that read its API compare with them. */
const en: FormatWords = {
  incident: { none: 'incident', minor: 'disruption', major: 'outage', critical: 'outage' },
  began: 'The outage began.',
  ended: 'The outage ended.',
  maintenance: 'Maintenance',
  maintenanceBodies: {
    scheduled: 'Maintenance is scheduled.',
    in_progress: 'Maintenance is in progress.',
    completed: 'Maintenance is completed.',
  },
  affected: 'Affected',
  indicators: {
    none: 'All Systems Operational',
    maintenance: 'Service Under Maintenance',
    minor: 'Partially Degraded Service',
    major: 'Partial System Outage',
    critical: 'Major Service Outage',
    unknown: 'No data',
  },
  statuses: {
    investigating: 'Investigating',
    identified: 'Identified',
    monitoring: 'Monitoring',
    resolved: 'Resolved',
    note: 'Update',
    postmortem: 'Postmortem',
    scheduled: 'Scheduled',
    in_progress: 'In progress',
    completed: 'Completed',
  },
  history: 'incidents and maintenance',
  openPage: 'Status page',
  dismiss: 'Dismiss',
};

const ru: FormatWords = {
  incident: { none: 'инцидент', minor: 'неполадки', major: 'сбой', critical: 'сбой' },
  began: 'Сбой начался.',
  ended: 'Сбой завершился.',
  maintenance: 'Технические работы',
  maintenanceBodies: {
    scheduled: 'Технические работы запланированы.',
    in_progress: 'Технические работы идут.',
    completed: 'Технические работы завершены.',
  },
  affected: 'Затронуто',
  indicators: {
    none: 'Все системы работают',
    maintenance: 'Идут технические работы',
    minor: 'Небольшие неполадки',
    major: 'Часть систем не работает',
    critical: 'Системы не работают',
    unknown: 'Нет данных',
  },
  statuses: {
    investigating: 'Выясняем причину',
    identified: 'Причина найдена',
    monitoring: 'Наблюдаем',
    resolved: 'Устранено',
    note: 'Обновление',
    postmortem: 'Разбор',
    scheduled: 'Запланировано',
    in_progress: 'Идёт',
    completed: 'Завершено',
  },
  history: 'инциденты и технические работы',
  openPage: 'Страница статуса',
  dismiss: 'Закрыть',
};

const words: Readonly<Record<Locale, FormatWords>> = { en, ru };

export function wordsOf(locale: Locale): FormatWords {
  return words[locale];
}

/** The title that somebody has given, or one made of the names of components. */
export function incidentTitle({ title, impact, componentNames }: IncidentView, words: FormatWords): string {
  if (title !== null) return title;
  const kind = words.incident[impact];
  return componentNames.length === 0
    ? kind.charAt(0).toUpperCase() + kind.slice(1)
    : `${componentNames.join(', ')}: ${kind}`;
}

/** The text of an update, or what the product says of an automatic beginning or end. */
export function updateBody(update: UpdateView, { began, ended }: FormatWords): string {
  return update.body ?? (update.status === 'resolved' ? ended : began);
}

export function maintenanceTitle(maintenance: MaintenanceView, { maintenance: word }: FormatWords): string {
  return maintenance.title ?? word;
}
