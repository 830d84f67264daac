import type { Words } from './words.ts';

const rules = new Intl.PluralRules('ru');

function form(count: number, one: string, few: string, many: string): string {
  const rule = rules.select(count);
  return rule === 'one' ? one : rule === 'few' ? few : many;
}

const days = (count: number): string => `${count} ${form(count, 'день', 'дня', 'дней')}`;
const troubledDays = (count: number): string => `${days(count)} с неполадками`;

export const ru: Words = {
  language: 'ru',
  name: 'Русский',
  openGraph: 'ru_RU',
  languages: 'Язык',
  banner: {
    none: 'Все системы работают',
    maintenance: 'Идут плановые работы',
    minor: 'Небольшие неполадки',
    major: 'Часть систем не работает',
    critical: 'Системы не работают',
    unknown: 'Нет данных',
  },
  affected: (count, of) => `Затронуто компонентов: ${count} из ${of}`,
  asOf: 'По состоянию на',
  stale: 'С тех пор страницу не удалось обновить. Сведения могли устареть.',
  since: 'с',
  empty: 'На этой странице пока нет компонентов.',
  status: {
    operational: 'Работает',
    maintenance: 'Плановые работы',
    degraded: 'Работает с перебоями',
    partial_outage: 'Частичный сбой',
    major_outage: 'Не работает',
    unknown: 'Нет данных',
  },
  announcement: 'Объявление',
  links: 'Ссылки',
  skip: 'К содержанию',
  today: 'Сегодня',
  components: 'Компоненты',
  days,
  bar: (count, { x, p, d, m, n }) => {
    const said = [
      x > 0 && `${x} со сбоем`,
      p > 0 && `${p} с коротким сбоем`,
      d > 0 && `${d} с перебоями`,
      m > 0 && `${m} с работами`,
      n > 0 && `${n} без данных`,
    ].filter((each) => each !== false);
    return `${days(count)}: ${said.length === 0 ? 'без неполадок' : said.join(', ')}`;
  },
  uptime: (percent) => `доступность ${percent}`,
  noUptime: 'нет данных о доступности',
  measured: (percent) => `измерено ${percent} времени`,
  legend: 'Что означают столбики',
  howBarsRead: 'Каждый столбик — это день. Чем выше столбик, тем хуже был день.',
  legends: {
    u: 'Без неполадок',
    d: 'Перебои в работе',
    p: 'Сбой короче 1 % суток',
    x: 'Сбой длиной в 1 % суток или дольше',
    m: 'Плановые работы больше половины суток',
    n: 'Нет данных больше десятой части суток',
  },
  troubledDays,
  latestOf: (shown, all) => `${troubledDays(all)}, последние ${shown}`,
  down: (duration) => `сбой ${duration}`,
  degraded: (duration) => `перебои ${duration}`,
  maintained: (duration) => `работы ${duration}`,
  responseTime: 'Время ответа',
  responseRange: (least, most) => (least === most ? `${least} мс` : `${least}–${most} мс`),
  responseDetail: (days, latest) => `Медиана каждого дня, всего ${days}; в последний ${latest} мс.`,
  openIncidents: 'Открытые инциденты',
  incident: 'Инцидент',
  incidentTitle: (names, impact) =>
    `${names}: ${impact === 'none' ? 'инцидент' : impact === 'minor' ? 'неполадки' : 'сбой'}`,
  incidentStatus: {
    investigating: 'Выясняем причину',
    identified: 'Причина найдена',
    monitoring: 'Наблюдаем',
    resolved: 'Устранено',
    note: 'Сообщение',
    postmortem: 'Разбор',
  },
  impact: {
    none: 'Без последствий',
    minor: 'Небольшое влияние',
    major: 'Серьёзное влияние',
    critical: 'Критическое влияние',
  },
  began: (names) => (names === '' ? 'Проверки обнаружили проблему.' : `Проверки обнаружили проблему: ${names}.`),
  ended: (names, duration) =>
    `${names === '' ? 'Проверки снова успешны.' : `Проверки снова успешны: ${names}.`}${duration === null ? '' : ` Длительность инцидента: ${duration}.`}`,
  lasted: (duration) => `длительность ${duration}`,
  ongoing: 'продолжается',
  affects: 'Затронуто',
  updates: 'Сообщения',
  noUpdates: 'Сообщений пока нет.',
  postmortem: 'Разбор инцидента',
  resolved: 'Устранено',
  maintenance: 'Плановые работы',
  maintenanceStatus: { scheduled: 'Запланированы', in_progress: 'Идут сейчас', completed: 'Завершены' },
  maintenanceNow: 'Текущие работы',
  maintenanceUpcoming: 'Предстоящие работы',
  recentIncidents: 'Недавние инциденты',
  noIncidents: 'Инцидентов не было',
  history: 'История',
  wholeHistory: 'Вся история',
  nothingInHistory: 'За дни, которые показывает эта страница, неполадок не было.',
  troubles: 'Дни с неполадками',
  incidents: 'Инциденты',
  back: (name) => `Статус: ${name}`,
  feeds: 'Ленты',
  calendar: 'Календарь работ',
  subscribe: 'Подписаться',
  timesIn: 'Часовой пояс:',
  showTimesIn: 'Показать время в поясе',
  poweredBy: 'Работает на',
};
