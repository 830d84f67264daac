import { escapeHtml, nameInHtml } from '../html.ts';
import { listLines } from './lines.ts';
import type { Counts, OtherKind, Words } from './sayings.ts';

const units = { day: 'д', hour: 'ч', minute: 'мин', second: 'с' };
const states: Readonly<Record<string, string>> = {
  UP: 'работает',
  DOWN: 'не работает',
  TIMEOUT: 'не работает',
  DEGRADED: 'замедлен',
  PARTIAL: 'частично не работает',
  WARNING: 'предупреждение',
  UNKNOWN: 'неизвестно',
  paused: 'на паузе',
};

const plural = new Intl.PluralRules('ru');
const alertForms: Readonly<Record<string, string>> = { one: 'оповещение', few: 'оповещения', many: 'оповещений' };
const alerts = (n: number): string => `${n} ${alertForms[plural.select(n)] ?? 'оповещения'}`;

const countsLine = (counts: Counts): string =>
  [
    `✅ работает: ${counts.up}`,
    ...(counts.down > 0 ? [`🔴 не работает: ${counts.down}`] : []),
    ...(counts.degraded > 0 ? [`🟠 замедлено: ${counts.degraded}`] : []),
    ...(counts.unknown > 0 ? [`⚪ неизвестно: ${counts.unknown}`] : []),
    ...(counts.paused > 0 ? [`⏸ на паузе: ${counts.paused}`] : []),
  ].join(' · ');

const kinds: Readonly<Record<OtherKind, string>> = {
  heartbeat: 'Heartbeat-проверки',
  webhook_check: 'Входящие вебхуки',
};

const more = (left: number): string[] => (left > 0 ? [`… и ещё ${left}`] : []);

export const ru: Words = {
  help: (isLinked) =>
    [
      '<b>Parallax</b> следит за вашими сервисами и пишет сюда, когда один из них не работает.',
      '',
      '/status — как всё работает',
      '/list — всё, за чем слежу; мониторы с номерами',
      '/pause ИМЯ или номер — не проверять',
      '/resume ИМЯ или номер — снова проверять',
      '/mute 1h — час без оповещений здесь (30m, 2d …)',
      '/unmute — снова оповещать',
      ...(isLinked ? [] : ['', 'Вы ещё не связаны с учётной записью: откройте ссылку из настроек Parallax.']),
    ].join('\n'),
  linkedPerson: (name) =>
    `Здравствуйте, ${nameInHtml(name)}! Теперь вы связаны со своей учётной записью. /help — что я умею.`,
  linkedGroup: (workspace) =>
    `Теперь эта группа связана с пространством ${nameInHtml(workspace)}. Выберите её получателем оповещения.`,
  linkUnknown: 'Ссылка неизвестна, уже использована или старше 15 минут. Получите новую в Parallax.',
  linkTaken: 'Вы уже связаны с другой учётной записью. Сначала отвяжитесь там.',
  linkNoRight: 'Тот, кто создал ссылку, больше не может изменять пространство. Попросите новую у одного из редакторов.',
  linkFull: 'У пространства уже столько групп, сколько возможно. Сначала отвяжите одну из них.',
  notLinked: 'Я вас ещё не знаю. Откройте ссылку из настроек Parallax и спросите снова.',
  groupNotLinked: 'Эта группа не связана с пространством. Редактор может связать её в настройках Parallax.',
  needsEditor: 'Для этого нужно быть редактором или владельцем пространства.',
  status: (workspace, counts, down, others) =>
    [
      `<b>${nameInHtml(workspace)}</b>`,
      counts.total === 0 ? 'Мониторов нет.' : countsLine(counts),
      ...listLines(down, states, units),
      ...more(counts.down - down.length),
      ...others.flatMap(({ kind, counts: own, listed }) => [
        `${kinds[kind]}: ${countsLine(own)}`,
        ...listLines(listed, states, units),
        ...more(own.down - listed.length),
      ]),
    ].join('\n'),
  list: (workspace, monitors, total, others) =>
    [
      `<b>${nameInHtml(workspace)}</b>`,
      ...(total === 0 ? ['Мониторов нет.'] : listLines(monitors, states, units)),
      ...more(total - monitors.length),
      ...others.flatMap(({ kind, counts, listed }) => [
        kinds[kind],
        ...listLines(listed, states, units),
        ...more(counts.total - listed.length),
      ]),
    ].join('\n'),
  nothingHere: 'Нет пространства, которое вы можете видеть.',
  paused: (monitor) => `⏸ ${nameInHtml(monitor)} на паузе.`,
  resumed: (monitor) => `▶️ ${nameInHtml(monitor)} снова проверяется.`,
  unknownMonitor: (wanted) => `Монитора ${nameInHtml(wanted)} здесь нет. Все мониторы: /list.`,
  ambiguous: (wanted, found) =>
    [
      `Под ${nameInHtml(wanted)} подходит несколько; укажите номер:`,
      ...found.map(({ id, name }) => `• ${nameInHtml(name)} — ${id}`),
    ].join('\n'),
  muted: (until, n) => `🔕 Тихо до ${escapeHtml(until)} (${alerts(n)}). Закончить: /unmute.`,
  unmuted: (n) => `🔔 Снова оповещаю (${alerts(n)}).`,
  nothingToMute: 'Ни одно оповещение не приходит в этот чат.',
  usage: {
    pause: 'Какой? /pause ИМЯ или номер из /list.',
    resume: 'Какой? /resume ИМЯ или номер из /list.',
    mute: 'На сколько? /mute 30m, /mute 1h, /mute 2d; не больше недели.',
  },
  refused: (reason) => `Отклонено: ${escapeHtml(reason)}`,
  failed: 'Не получилось. Попробуйте через минуту.',
  button: {
    acknowledged: 'Принято',
    resolved: 'Уже решено.',
    gone: 'Этого больше нет, или вам этого не видно.',
    muted: 'Час без оповещений',
    nothingToMute: 'Ни одно оповещение не приходит в этот чат.',
    notLinked: 'Я вас ещё не знаю. Напишите мне /start в личном чате.',
    needsEditor: 'Для этого нужно быть редактором или владельцем пространства.',
    failed: 'Не получилось. Попробуйте через минуту.',
  },
};
