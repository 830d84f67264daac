import { reasonsRu } from './reasons-ru.ts';
import type { Counted, DurationParts, Manner, Many, Matter, Words } from './words.ts';

const rules = new Intl.PluralRules('ru');

/** Forms after 1, 2 and 5: «минута», «минуты», «минут». */
type Forms = readonly [one: string, few: string, many: string];

function formOf(count: number, [one, few, many]: Forms): string {
  const rule = rules.select(count);
  return rule === 'one' ? one : rule === 'few' ? few : many;
}

/** «1 минута», «2 минуты», «5 минут», «21 минута». */
function counted(count: number, forms: Forms): string {
  return `${count} ${formOf(count, forms)}`;
}

type Unit = DurationParts[number][0];
const short: Readonly<Record<Unit, string>> = { d: 'д', h: 'ч', min: 'мин', s: 'с' };
const nominative: Readonly<Record<Unit, Forms>> = {
  d: ['день', 'дня', 'дней'],
  h: ['час', 'часа', 'часов'],
  min: ['минута', 'минуты', 'минут'],
  s: ['секунда', 'секунды', 'секунд'],
};
/** How long: «длится 1 минуту». Only the feminine ones differ. */
const accusative: Readonly<Record<Unit, Forms>> = {
  ...nominative,
  min: ['минуту', 'минуты', 'минут'],
  s: ['секунду', 'секунды', 'секунд'],
};

function durationIn(parts: DurationParts, forms: Readonly<Record<Unit, Forms>>, none: string): string {
  const [first, ...rest] = parts;
  if (first === undefined) return none;
  if (rest.length === 0) return counted(first[1], forms[first[0]]);
  return parts.map(([unit, count]) => `${count} ${short[unit]}`).join(' ');
}

function duration(parts: DurationParts): string {
  return durationIn(parts, nominative, 'меньше секунды');
}

function lasting(parts: DurationParts): string {
  return durationIn(parts, accusative, 'меньше секунды');
}

function list(names: readonly string[], more: number): string {
  if (more > 0) return `${names.join(', ')} и ещё ${more}`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} и ${last}`;
}

/** In the genitive: «у 1 монитора», «у 5 мониторов». */
const genitive: Readonly<Record<Counted, Forms>> = {
  monitor: ['монитора', 'мониторов', 'мониторов'],
  heartbeat: ['heartbeat-проверки', 'heartbeat-проверок', 'heartbeat-проверок'],
  webhook_check: ['вебхук-проверки', 'вебхук-проверок', 'вебхук-проверок'],
  check: ['проверки', 'проверок', 'проверок'],
};
const probesGenitive: Forms = ['зонда', 'зондов', 'зондов'];
const problemForms: Forms = ['проблема', 'проблемы', 'проблем'];

// Names have an unknown gender, so nothing agrees with them: the present tense, or a colon.
const problems: Readonly<Record<Matter, Readonly<Record<Manner, string>>>> = {
  down: { now: ' не работает', again: ' снова не работает', still: ' по-прежнему не работает' },
  timeout: {
    now: ' не отвечает вовремя',
    again: ' снова не отвечает вовремя',
    still: ' по-прежнему не отвечает вовремя',
  },
  missed: { now: ': нет сигнала', again: ': снова нет сигнала', still: ': по-прежнему нет сигнала' },
  not_received: { now: ': вебхук не пришёл', again: ': вебхук снова не пришёл', still: ': вебхука по-прежнему нет' },
  failed: { now: ' сообщает об ошибке', again: ' снова сообщает об ошибке', still: ' по-прежнему сообщает об ошибке' },
  degraded: {
    now: ' работает хуже обычного',
    again: ' снова работает хуже обычного',
    still: ' по-прежнему работает хуже обычного',
  },
  partial: {
    now: ' работает не отовсюду',
    again: ' снова работает не отовсюду',
    still: ' по-прежнему работает не отовсюду',
  },
  warning: { now: ': предупреждение', again: ': снова предупреждение', still: ': предупреждение остаётся в силе' },
  unknown: {
    now: ': состояние неизвестно',
    again: ': состояние снова неизвестно',
    still: ': состояние по-прежнему неизвестно',
  },
  flapping: {
    now: ' слишком часто меняет состояние',
    again: ' снова слишком часто меняет состояние',
    still: ' по-прежнему слишком часто меняет состояние',
  },
  certificate: {
    now: ': сертификат скоро истекает',
    again: ': сертификат скоро истекает',
    still: ': сертификат всё ещё не обновлён',
  },
  domain: {
    now: ': регистрация домена скоро закончится',
    again: ': регистрация домена скоро закончится',
    still: ': регистрация домена всё ещё не продлена',
  },
  listed: {
    now: ': адрес в чёрном списке',
    again: ': адрес снова в чёрном списке',
    still: ': адрес по-прежнему в чёрном списке',
  },
  offline: { now: ' не на связи', again: ' снова не на связи', still: ' по-прежнему не на связи' },
  quarantined: { now: ' на карантине', again: ' снова на карантине', still: ' по-прежнему на карантине' },
  incident: { now: '', again: ' (открыто снова)', still: ' (не закрыто)' },
};

const ends: Readonly<Record<Matter, string>> = {
  down: ' снова работает',
  timeout: ' снова отвечает вовремя',
  missed: ': сигналы снова приходят',
  not_received: ': вебхуки снова приходят',
  failed: ' снова сообщает об успехе',
  degraded: ': ухудшение закончилось',
  partial: ': частичный сбой закончился',
  warning: ': предупреждение снято',
  unknown: ': состояние снова известно',
  flapping: ': состояние снова стабильно',
  certificate: ': сертификат обновлён',
  domain: ': регистрация домена продлена',
  listed: ': адреса больше нет в чёрном списке',
  offline: ' снова на связи',
  quarantined: ' больше не на карантине',
  incident: ': инцидент закрыт',
};

const pasts: Readonly<Record<Matter, string>> = {
  down: 'сбой',
  timeout: 'не было ответа вовремя',
  missed: 'не было сигнала',
  not_received: 'не приходил вебхук',
  failed: 'были сообщения об ошибке',
  degraded: 'работа хуже обычного',
  partial: 'частичный сбой',
  warning: 'предупреждение',
  unknown: 'состояние неизвестно',
  flapping: 'частая смена состояния',
  certificate: 'сертификат скоро истекает',
  domain: 'регистрация домена скоро закончится',
  listed: 'адрес в чёрном списке',
  offline: 'нет связи',
  quarantined: 'карантин',
  incident: 'инцидент',
};

function manyOf({ count, counted: kind }: Many): string {
  return counted(count, genitive[kind]);
}

function named({ count, names }: Many): string {
  return list(names, count - names.length);
}

function sentence(text: string): string {
  const [first = ''] = text;
  return `${first.toLocaleUpperCase('ru')}${text.slice(first.length)}${/[.!?…]$/u.test(text) ? '' : '.'}`;
}

const manners: Readonly<Record<Manner, string>> = {
  now: 'Сбой у',
  again: 'Снова сбой у',
  still: 'Сбой продолжается у',
};

export const ru: Words = {
  locale: 'ru',
  dates: 'ru-RU',
  unnamed: '(без названия)',
  controlPlane: 'центральный сервер',
  reasons: reasonsRu,

  list,
  more: (count) => `и ещё ${count}`,
  duration,
  withDuration: (time, parts) => `${time} (${duration(parts)})`,

  problem: (name, matter, manner) => `${name}${problems[matter][manner]}`,
  problems: (many, manner) => `${manners[manner]} ${manyOf(many)}: ${named(many)}`,
  ended: (name, matter) => `${name}${ends[matter]}`,
  endedMany: (many) => `Восстановлена работа ${manyOf(many)}: ${named(many)}`,
  past: (name, matter) => `${name}: ${pasts[matter]}`,
  was: (name, matter, parts) => `${name}: ${pasts[matter]} (${duration(parts)}), уже всё в порядке`,
  wasMany: (many) => `Был сбой у ${manyOf(many)}: ${named(many)}`,
  expiry: (name, what, parts) => {
    if (what === 'certificate')
      return parts === null
        ? `Срок сертификата истёк: ${name}`
        : `Сертификат истекает через ${lasting(parts)}: ${name}`;
    return parts === null
      ? `Регистрация домена закончилась: ${name}`
      : `Регистрация домена закончится через ${lasting(parts)}: ${name}`;
  },
  listed: (name, provider, isListed) =>
    isListed ? `${name}: адрес в чёрном списке ${provider}` : `${name}: адреса больше нет в чёрном списке ${provider}`,
  probe: (name, what) =>
    ({
      offline: `Зонд ${name} не на связи`,
      online: `Зонд ${name} снова на связи`,
      quarantined: `Зонд ${name} на карантине`,
      released: `Зонд ${name} больше не на карантине`,
    })[what],
  flapping: (name, isFlapping) =>
    isFlapping ? `${name} слишком часто меняет состояние` : `${name}: состояние снова стабильно`,

  titles: {
    reminder: (title, parts) => `${title} (${duration(parts)})`,
    escalated: (title) => `Нет реакции: ${title}`,
    acknowledged: (title) => `Принято в работу: ${title}`,
    updated: (title) => `Новости: ${title}`,
    joined: (title) => `Сбоев стало больше. ${title}`,
    closed: (title) => `Закрыто: ${title}`,
    removed: (title) => `Инцидент удалён: ${title}`,
    corrected: (title) => `Поправка, сбоя не было: ${title}`,
    allClear: (maintenance) => `Отбой после работ: ${maintenance}`,
    digest: (lasting_, over) =>
      [
        ...(lasting_ > 0 ? [counted(lasting_, problemForms)] : []),
        ...(over > 0 ? [`${lasting_ > 0 ? 'закончилось' : 'Закончилось'}: ${over}`] : []),
      ].join(', ') || 'Открытых проблем нет',
    afterQuiet: (lasting_, over) =>
      lasting_ > 0
        ? `Тихие часы закончились: ${counted(lasting_, ['проблема осталась', 'проблемы остались', 'проблем осталось'])}`
        : `Тихие часы закончились: всё снова в порядке (за это время ${counted(over, problemForms)})`,
    test: 'Проверочное сообщение Parallax',
  },
  sentences: {
    seenFrom: ({ probes, failing, asked }) =>
      asked === 0
        ? `Видно из: ${list(probes, 0)}.`
        : `Видно из: ${list(probes, failing - probes.length)} (${failing} из ${counted(asked, probesGenitive)}).`,
    silent: (probes) => `Молчат: ${probes}.`,
    reason: sentence,
    exited: (code) => `Завершилось с кодом ${code}.`,
    joined: 'Добавились сбои, у которых, похоже, та же причина.',
    reopened: 'Сообщалось, что всё закончилось, но это не так.',
    changed: 'Инцидент изменён.',
    update: (text) => text,
    reminder: (count, isAcknowledged) =>
      `Напоминание № ${count}.${isAcknowledged ? '' : ' Пока никто не взял это в работу.'}`,
    escalated: (step) => `Никто не взял это в работу, поэтому оповещается ступень ${step}.`,
    acknowledged: (by) => (by === null ? 'Этим уже занимаются.' : `Этим занимается ${by}.`),
    lasted: (parts) => `Длилось ${lasting(parts)}.`,
    closedBy: (by) => (by === null ? 'Закрыто вручную.' : `Закрыто вручную (${by}).`),
    closing: (text) => `Комментарий при закрытии: ${text}`,
    paused: 'Закончилось, потому что проверка приостановлена.',
    deleted: 'Закончилось, потому что проверка удалена.',
    reset: 'Закрыто, потому что статистика сброшена.',
    removedBy: (by, still) => `Инцидент удалён${by === null ? '' : ` (${by})`}${still === null ? '' : `; ${still}`}.`,
    folded: 'Теперь это часть другого инцидента.',
    corrected: 'Более поздние данные показали, что всё время всё было в порядке.',
    recovered: 'Инцидент был закрыт вручную; теперь и проверки снова проходят.',
    recoveredRemoved: 'Инцидент был удалён вручную; теперь проверки снова проходят.',
    wasDown: 'Всё закончилось раньше, чем об этом можно было сообщить.',
    allClear: (count) =>
      `За время работ ${counted(count, ['сбой начался и закончился', 'сбоя начались и закончились', 'сбоев начались и закончились'])}. Делать ничего не нужно.`,
    certificate: (date) => `Действует до ${date}. Обновите его и убедитесь, что сервер использует новый.`,
    certificateEnded: (date) =>
      `Действовал до ${date}. Посетители видят предупреждение или вообще ничего: обновите его сейчас.`,
    domain: (date) => `Срок регистрации: до ${date}. Продлите её у регистратора.`,
    domainEnded: (date) =>
      `Срок регистрации закончился ${date}. Продлите её сейчас, иначе имя может занять кто-то другой.`,
    listed: (provider) =>
      `Почту с него могут не принимать. Найдите причину, затем попросите ${provider} убрать запись.`,
    delisted: (provider) => `В списке ${provider} его больше нет.`,
    offline: 'Его проверки пока выполняют другие зонды, если они есть. Посмотрите, работают ли его машина и сеть.',
    online: 'Его результаты снова учитываются.',
    quarantined: 'Он противоречит всем остальным. Его результаты не учитываются, пока он снова не согласится с ними.',
    released: 'Он согласен с остальными, и его результаты снова учитываются.',
    flapping: 'Сообщения о нём придерживаются, пока состояние не станет стабильным.',
    stable: 'Сообщения о нём снова приходят как обычно.',
    digest: (count) => `${counted(count, ['сообщение', 'сообщения', 'сообщений'])} за минуту, собраны в одно.`,
    afterQuiet: 'Это то, что придерживалось в тихие часы.',
    test: 'Всё работает: сюда будут приходить сообщения о проблемах.',
  },
  downReasons: {
    missed: 'Сигнал не пришёл ни в срок, ни за время отсрочки.',
    overran: 'Запуск длится дольше, чем можно.',
    failed: 'Об этом сообщила сама проверка.',
    too_fast: 'Завершилось быстрее, чем можно было успеть всё сделать.',
  },
  explanations: {
    missed: 'Сигнал не пришёл ни в срок, ни за время отсрочки.',
    not_received: 'К ожидаемому времени ничего не доставлено.',
    failed: 'Об этом сообщила сама проверка.',
    partial: 'Для одних зондов всё работает, для других нет.',
    unknown: 'Ни один зонд не может сказать, что происходит.',
    incident: 'Этот инцидент открыт вручную.',
  },
  labels: {
    since: 'Длится с',
    began: 'Начало',
    ended: 'Конец',
    lasted: 'Длилось',
    reason: 'Причина',
    said: 'Сообщение',
    nextCheck: 'Следующая проверка',
    severity: 'Важность',
    acknowledgedBy: 'Кто взял в работу',
    resolvedBy: 'Кто закрыл',
    expires: 'Истекает',
    expired: 'Срок истёк',
    blocklist: 'Чёрный список',
    region: 'Регион',
    maintenance: 'Работы',
    alert: 'Оповещение',
    workspace: 'Пространство',
  },
  headings: {
    probes: 'Что увидел каждый зонд',
    subjects: 'Что затронуто',
    lasting: 'Ещё не закончилось',
    over: 'Закончилось',
    outages: 'Сбои за время работ',
    text: 'Что написано',
  },
  severities: { minor: 'низкая', major: 'высокая', critical: 'критическая' },
  votes: {
    UP: 'работает',
    DOWN: 'не работает',
    TIMEOUT: 'нет ответа вовремя',
    DEGRADED: 'медленно',
    WARNING: 'работает, с предупреждением',
    MISSING: 'молчит',
  },
  lineLasting: (title, since) => `${title}, с ${since}`,
  lineOver: (title, parts) => `${title} (длилось ${lasting(parts)})`,
  links: { open: 'Открыть', acknowledge: 'Взять в работу', snooze: 'Отложить', unsubscribe: 'Отписаться' },
  openIncident: 'Открыть инцидент',
};
