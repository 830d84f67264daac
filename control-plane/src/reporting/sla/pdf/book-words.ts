/** What a report on several subjects says beside the words of its chapters. */
export type BookWords = {
  readonly title: string;
  readonly subject: (name: string, period: string) => string;
  readonly period: string;
  readonly timezone: string;
  readonly before: string;
  readonly generated: string;
  readonly workspace: string;
  readonly summary: string;
  readonly uptime: string;
  readonly ofSubjects: (count: number) => string;
  readonly change: (points: string) => string;
  readonly unchanged: string;
  readonly target: (target: string) => string;
  readonly met: (met: number, all: number) => string;
  readonly table: string;
  readonly none: string;
  readonly columns: {
    readonly subject: string;
    readonly uptime: string;
    readonly before: string;
    readonly downtime: string;
    readonly outages: string;
    readonly longest: string;
    readonly p95: string;
    readonly target: string;
  };
  readonly yes: string;
  readonly no: string;
  readonly heartbeat: string;
  readonly webhookCheck: string;
  readonly provisional: string;
  readonly order: string;
  readonly chapters: (shown: number, all: number) => string;
  readonly omitted: (shown: number) => string;
  readonly zones: (timezone: string) => string;
  /** What the words of one report say otherwise. */
  readonly method: string;
  readonly verify: (path: string) => string;
};

const english: BookWords = {
  title: 'Availability report',
  subject: (name, period) => `Availability, ${name}, ${period}`,
  period: 'Period',
  timezone: 'Time zone',
  before: 'Period before',
  generated: 'Generated',
  workspace: 'Workspace',
  summary: 'Summary',
  uptime: 'Uptime of all subjects',
  ofSubjects: (count) => (count === 1 ? 'one subject' : `${count} subjects, by their measured time`),
  change: (points) => `${points} percentage points against the period before`,
  unchanged: 'As in the period before',
  target: (target) => `Target ${target}`,
  met: (met, all) => `${met} of ${all} monitors met it`,
  table: 'All subjects',
  none: 'No subject was in this report.',
  columns: {
    subject: 'Subject',
    uptime: 'Uptime',
    before: 'Before',
    downtime: 'Downtime',
    outages: 'Outages',
    longest: 'Longest',
    p95: '95th pct.',
    target: 'Target',
  },
  yes: 'met',
  no: 'missed',
  heartbeat: 'heartbeat',
  webhookCheck: 'webhook check',
  provisional: 'The last day is provisional until 24 hours after its end: results that come late may still change it.',
  order: 'The least available subjects come first.',
  chapters: (shown, all) =>
    shown === all
      ? 'Each monitor has a chapter of its own below.'
      : `The ${shown} least available of ${all} monitors have a chapter of their own below.`,
  omitted: (shown) => `The scope covers more subjects; the first ${shown} by name are in this report.`,
  zones: (timezone) => `Days of this overview are those of ${timezone}. Chapters give days and times in UTC.`,
  method:
    'Uptime is the time that was up or degraded, over the time that was up, degraded, down or timed out. Time that was unknown, in maintenance, paused or excluded counts neither way. The uptime of all subjects is that of their times together.',
  verify: (path) =>
    `Send the file as it is to ${path}. The answer tells whether the file is unaltered and from this installation.`,
};

const russian: BookWords = {
  title: 'Отчёт о доступности',
  subject: (name, period) => `Доступность, ${name}, ${period}`,
  period: 'Период',
  timezone: 'Часовой пояс',
  before: 'Предыдущий период',
  generated: 'Составлен',
  workspace: 'Рабочее пространство',
  summary: 'Итог',
  uptime: 'Доступность всех объектов',
  ofSubjects: (count) => (count === 1 ? 'один объект' : `объектов: ${count}, по их измеренному времени`),
  change: (points) => `${points} процентного пункта к предыдущему периоду`,
  unchanged: 'Как в предыдущем периоде',
  target: (target) => `Цель ${target}`,
  met: (met, all) => `мониторов, достигших цели: ${met} из ${all}`,
  table: 'Все объекты',
  none: 'В этом отчёте нет ни одного объекта.',
  columns: {
    subject: 'Объект',
    uptime: 'Доступность',
    before: 'Ранее',
    downtime: 'Простой',
    outages: 'Сбоев',
    longest: 'Дольше всего',
    p95: '95-й перц.',
    target: 'Цель',
  },
  yes: 'да',
  no: 'нет',
  heartbeat: 'сигнал',
  webhookCheck: 'вебхук-проверка',
  provisional:
    'Последний день предварительный, пока не пройдёт 24 часа после его конца: поздние результаты ещё могут его изменить.',
  order: 'Сначала наименее доступные объекты.',
  chapters: (shown, all) =>
    shown === all
      ? 'Ниже каждому монитору посвящена отдельная глава.'
      : `Ниже отдельные главы наименее доступных мониторов: ${shown} из ${all}.`,
  omitted: (shown) => `Область охватывает больше объектов; в отчёт вошли первые ${shown} по имени.`,
  zones: (timezone) => `Дни этого обзора — дни пояса ${timezone}. В главах дни и время указаны по UTC.`,
  method:
    'Доступность — это время в состояниях «работает» и «ухудшено», делённое на время в состояниях «работает», «ухудшено», «недоступен» и «тайм-аут». Неизвестное время, обслуживание, пауза и исключённое время не учитываются. Доступность всех объектов считается по их времени вместе.',
  verify: (path) =>
    `Отправьте файл без изменений на ${path}. Ответ сообщит, не изменён ли файл и создан ли он этой установкой.`,
};

/** The words of a language; those of English for a language that there is not. */
export function bookWordsFor(language: string): BookWords {
  return language === 'ru' ? russian : english;
}
