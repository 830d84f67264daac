/** What the mail of a report says in a language. */
export type MailWords = {
  readonly frequencies: Readonly<Record<'daily' | 'weekly' | 'monthly' | 'quarterly', string>>;
  readonly uptime: string;
  readonly change: string;
  readonly points: (points: string) => string;
  readonly unchanged: string;
  readonly outages: string;
  readonly downtime: string;
  readonly none: string;
  readonly notMeasured: string;
  readonly target: (target: string, met: number, all: number) => string;
  readonly subjects: string;
  readonly before: (uptime: string) => string;
  readonly more: (count: number) => string;
  readonly noSubjects: string;
  readonly longest: string;
  readonly noOutages: string;
  readonly ongoing: string;
  readonly response: string;
  readonly latency: (median: string, p95: string) => string;
  readonly latencyAlt: (subject: string, median: string, p95: string) => string;
  readonly bars: (bars: number, withDowntime: number) => string;
  readonly share: (uptime: string) => string;
  readonly legend: { readonly full: string; readonly some: string; readonly bad: string; readonly unmeasured: string };
  readonly provisional: string;
  readonly attached: (files: string) => string;
  readonly why: (workspace: string) => string;
  readonly unsubscribe: string;
  readonly zone: (timezone: string) => string;
  readonly utc: string;
};

const russianPlural = new Intl.PluralRules('ru');

const english: MailWords = {
  frequencies: {
    daily: 'Daily report',
    weekly: 'Weekly report',
    monthly: 'Monthly report',
    quarterly: 'Quarterly report',
  },
  uptime: 'Uptime',
  change: 'Change',
  points: (points) => `${points}\u00A0pp`,
  unchanged: 'none',
  outages: 'Outages',
  downtime: 'Downtime',
  none: 'none',
  notMeasured: 'not measured',
  target: (target, met, all) => `Target ${target}: ${met} of ${all} ${all === 1 ? 'monitor' : 'monitors'} met it.`,
  subjects: 'Least available first',
  before: (uptime) => `before: ${uptime}`,
  more: (count) => (count === 1 ? 'One more subject is in the report.' : `${count} more subjects are in the report.`),
  noSubjects: 'No subject was in this report.',
  longest: 'Longest outages',
  noOutages: 'There was no outage in this period.',
  ongoing: 'ongoing',
  response: 'Response times',
  latency: (median, p95) => `median ${median}, 95th percentile ${p95}`,
  latencyAlt: (subject, median, p95) =>
    `Line chart of the response times of ${subject}: median ${median}, 95th percentile ${p95}`,
  bars: (bars, withDowntime) =>
    `Bar chart of uptime over time: ${bars} bars, ${withDowntime === 0 ? 'none' : withDowntime} with downtime`,
  share: (uptime) => `Bar: ${uptime} up`,
  legend: { full: 'no downtime', some: 'from 99%', bad: 'below 99%', unmeasured: 'not measured' },
  provisional: 'The last day is provisional until 24 hours after its end: results that come late may still change it.',
  attached: (files) => `Attached: ${files}`,
  why: (workspace) => `You get this report since it is sent to your address from the workspace ${workspace}.`,
  unsubscribe: 'No more of this report',
  zone: (timezone) => `Days and times are those of ${timezone}.`,
  utc: 'UTC',
};

const russian: MailWords = {
  frequencies: {
    daily: 'Ежедневный отчёт',
    weekly: 'Еженедельный отчёт',
    monthly: 'Ежемесячный отчёт',
    quarterly: 'Квартальный отчёт',
  },
  uptime: 'Доступность',
  change: 'Изменение',
  points: (points) => `${points}\u00A0п.\u00A0п.`,
  unchanged: 'нет',
  outages: 'Сбоев',
  downtime: 'Простой',
  none: 'нет',
  notMeasured: 'не измерено',
  target: (target, met, all) =>
    `Цель ${target}: достигнута у ${met} из ${all} ${russianPlural.select(all) === 'one' ? 'монитора' : 'мониторов'}.`,
  subjects: 'Сначала наименее доступные',
  before: (uptime) => `ранее: ${uptime}`,
  more: (count) => `Ещё объектов в отчёте: ${count}.`,
  noSubjects: 'В этом отчёте нет ни одного объекта.',
  longest: 'Самые долгие сбои',
  noOutages: 'За этот период сбоев не было.',
  ongoing: 'продолжается',
  response: 'Время ответа',
  latency: (median, p95) => `медиана ${median}, 95-й процентиль ${p95}`,
  latencyAlt: (subject, median, p95) => `График времени ответа, ${subject}: медиана ${median}, 95-й процентиль ${p95}`,
  bars: (bars, withDowntime) => `Столбцы доступности по времени: всего ${bars}, с простоем ${withDowntime}`,
  share: (uptime) => `Полоса: доступность ${uptime}`,
  legend: { full: 'без простоя', some: 'от 99 %', bad: 'ниже 99 %', unmeasured: 'не измерено' },
  provisional:
    'Последний день предварительный, пока не пройдёт 24 часа после его конца: поздние результаты ещё могут его изменить.',
  attached: (files) => `Вложено: ${files}`,
  why: (workspace) => `Вы получаете этот отчёт, потому что он отправляется на ваш адрес из пространства ${workspace}.`,
  unsubscribe: 'Больше не присылать этот отчёт',
  zone: (timezone) => `Дни и время указаны по поясу ${timezone}.`,
  utc: 'UTC',
};

/** The words of a language. */
export function mailWords(locale: 'en' | 'ru'): MailWords {
  return { en: english, ru: russian }[locale];
}
