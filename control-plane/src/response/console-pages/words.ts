import type { TeamChatError } from '../team-chat/index.ts';

/** What messages lead to. */
export type Thing = 'incident' | 'monitor' | 'probe';

type ConnectedWords = {
  readonly title: string;
  readonly connected: readonly [head: string, text: string];
  readonly next: string;
  readonly empty: readonly [head: string, text: string];
  readonly failed: string;
  readonly unknown: string;
  readonly errors: Readonly<Record<TeamChatError, string>>;
};

/** Every word of the page on which the connection of a room ends. */
export const connectedWords: Readonly<Record<'en' | 'ru', ConnectedWords>> = {
  en: {
    title: 'Parallax: alerts',
    connected: ['The room is connected', 'Alerts can be sent there now. You can close this page.'],
    next: 'It is a destination of your Slack configuration. Alerts name it as their target:',
    empty: ['There is nothing here', 'This page shows how the connection of a Slack room ended. Begin one first.'],
    failed: 'The room was not connected',
    unknown: 'Something went wrong. Begin again.',
    errors: {
      invalid_state:
        'This was begun in another browser, was finished already, or took longer than ten minutes. Begin again.',
      access_denied: 'You did not give your consent in Slack. Begin again if that was not meant.',
      provider_refused: 'Slack refused, or named no room that messages can go to. Begin again and choose a room.',
      provider_unavailable: 'Slack does not answer at present. Try again later.',
      too_many_channels: 'Your plan allows no further channel. Delete the configuration of another one first.',
      refused: 'Your Slack configuration takes no further room: it may have 20. Remove one of them first.',
    },
  },
  ru: {
    title: 'Parallax: оповещения',
    connected: ['Комната подключена', 'Теперь туда можно отправлять оповещения. Эту страницу можно закрыть.'],
    next: 'Это место назначения в вашей настройке Slack. Оповещения называют его адресатом так:',
    empty: [
      'Здесь ничего нет',
      'Эта страница показывает, чем закончилось подключение комнаты Slack. Сначала начните его.',
    ],
    failed: 'Подключить комнату не удалось',
    unknown: 'Что-то пошло не так. Начните заново.',
    errors: {
      invalid_state: 'Это начато в другом браузере, уже завершено или заняло больше десяти минут. Начните заново.',
      access_denied: 'Вы не дали согласия в Slack. Если это вышло случайно, начните заново.',
      provider_refused:
        'Slack отказал или не назвал комнаты, куда можно отправлять сообщения. Начните заново и выберите комнату.',
      provider_unavailable: 'Slack сейчас не отвечает. Попробуйте позже.',
      too_many_channels: 'Ваш тариф не позволяет добавить ещё один канал. Сначала удалите настройку другого.',
      refused: 'Ваша настройка Slack не принимает ещё одну комнату: их может быть 20. Сначала удалите одну из них.',
    },
  },
};

type ThingWords = {
  readonly titles: Readonly<Record<Thing, (id: number) => string>>;
  readonly text: string;
  readonly hints: Readonly<Record<Thing, string>>;
  readonly documentation: string;
};

/** What the page of an incident, a monitor or a probe says. */
export const thingWords: Readonly<Record<'en' | 'ru', ThingWords>> = {
  en: {
    titles: {
      incident: (id) => `Incident ${id}`,
      monitor: (id) => `Monitor ${id}`,
      probe: (id) => `Probe ${id}`,
    },
    text: 'There is no console here yet. The API tells the same, by an access token of yours:',
    hints: {
      incident: 'Messages also have a link that acknowledges it, or lets it rest for a while, without signing in.',
      monitor: 'What it saw stands below /results, what the probes agreed on below /status-ranges.',
      probe: 'Probes of the installation are shown to administrators.',
    },
    documentation: 'Description of the API',
  },
  ru: {
    titles: {
      incident: (id) => `Инцидент ${id}`,
      monitor: (id) => `Монитор ${id}`,
      probe: (id) => `Зонд ${id}`,
    },
    text: 'Консоли здесь пока нет. То же расскажет API, по вашему токену доступа:',
    hints: {
      incident: 'В сообщениях есть и ссылка, по которой инцидент берут в работу или откладывают без входа.',
      monitor: 'Что он видел, читают по /results, к чему пришли зонды, по /status-ranges.',
      probe: 'Зонды установки показываются администраторам.',
    },
    documentation: 'Описание API',
  },
};
