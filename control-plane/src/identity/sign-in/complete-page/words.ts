import type { CallbackError } from '../providers/provider.ts';

/** What the page says, in one language. */
export type PageWords = {
  readonly title: string;
  readonly signedIn: readonly [head: string, text: string];
  readonly linked: readonly [head: string, text: string];
  readonly secondFactor: readonly [head: string, text: string];
  readonly code: string;
  readonly send: string;
  readonly wrongCode: string;
  readonly tooManyCodes: string;
  readonly unavailable: string;
  readonly failed: string;
  readonly unknown: string;
  readonly empty: readonly [head: string, text: string];
  readonly errors: Readonly<Record<CallbackError, string>>;
};

/** Every word of the page: nothing of the address it was called with is ever shown. */
export const pageWords: Readonly<Record<'en' | 'ru', PageWords>> = {
  en: {
    title: 'Parallax: sign-in',
    signedIn: ['You are signed in', 'You can close this page.'],
    linked: [
      'The sign-in is linked to your account',
      'From now on you can also sign in with it. You can close this page.',
    ],
    secondFactor: ['One more step', 'Enter the code from your authenticator app, or one of your recovery codes.'],
    code: 'Code',
    send: 'Continue',
    wrongCode: 'This code is wrong or was used before. Wait for the next one.',
    tooManyCodes: 'Too many tries. Wait a minute and try again.',
    unavailable: 'The service does not answer at present. Try again.',
    failed: 'Sign-in did not work',
    unknown: 'Something went wrong. Begin the sign-in again.',
    empty: ['There is nothing here', 'This page shows how a sign-in ended. Begin one first.'],
    errors: {
      invalid_state:
        'This sign-in was begun in another browser, was used already, or took longer than ten minutes. Begin again.',
      access_denied: 'You did not give your consent to the provider. Begin again if that was not meant.',
      provider_refused: 'The provider refused the sign-in, or its answer could not be verified. Begin again.',
      provider_unavailable: 'The provider does not answer at present. Try again later.',
      account_exists:
        'There is an account with your mail address already. Sign in to it as you usually do, then link this sign-in in its settings.',
      identity_taken: 'This sign-in is linked to another account. Unlink it there first.',
      session_ended: 'The session that began this has ended. Sign in and link again.',
      registration_closed:
        'There is no account for this sign-in, and new ones are not open to everybody here. Ask for an invitation.',
      setup_token_required:
        'This installation has no account yet. The first one is registered with the set-up token from its log.',
      invite_unknown: 'The invitation does not exist or was withdrawn. Ask for a new one.',
      invite_used: 'The invitation was used already: each is good for one account. Ask for a new one.',
      invite_expired: 'The invitation has expired. Ask for a new one.',
      invite_other_address:
        'The invitation is for another mail address, or the provider has not confirmed yours. Sign in with the address that it was sent to.',
      invite_full: 'The workspace that you were invited to has as many members as it may have.',
    },
  },
  ru: {
    title: 'Parallax: вход',
    signedIn: ['Вы вошли', 'Эту страницу можно закрыть.'],
    linked: [
      'Способ входа привязан к вашей учётной записи',
      'Теперь вы можете входить и так. Эту страницу можно закрыть.',
    ],
    secondFactor: ['Ещё один шаг', 'Введите код из приложения-аутентификатора или один из кодов восстановления.'],
    code: 'Код',
    send: 'Продолжить',
    wrongCode: 'Код неверен или уже использован. Дождитесь следующего.',
    tooManyCodes: 'Слишком много попыток. Подождите минуту и попробуйте снова.',
    unavailable: 'Сервис сейчас не отвечает. Попробуйте ещё раз.',
    failed: 'Войти не удалось',
    unknown: 'Что-то пошло не так. Начните вход заново.',
    empty: ['Здесь ничего нет', 'Эта страница показывает, чем закончился вход. Сначала начните его.'],
    errors: {
      invalid_state:
        'Этот вход начат в другом браузере, уже использован или занял больше десяти минут. Начните заново.',
      access_denied: 'Вы не дали провайдеру согласия. Если это вышло случайно, начните заново.',
      provider_refused: 'Провайдер отказал во входе, или его ответ не удалось проверить. Начните заново.',
      provider_unavailable: 'Провайдер сейчас не отвечает. Попробуйте позже.',
      account_exists:
        'Учётная запись с вашим адресом почты уже есть. Войдите в неё как обычно и привяжите этот способ входа в настройках.',
      identity_taken: 'Этот способ входа привязан к другой учётной записи. Сначала отвяжите его там.',
      session_ended: 'Сеанс, в котором это было начато, завершён. Войдите и привяжите снова.',
      registration_closed:
        'Учётной записи для этого входа нет, а новые здесь открыты не для всех. Попросите приглашение.',
      setup_token_required:
        'Здесь ещё нет ни одной учётной записи. Первая регистрируется с установочным токеном из журнала.',
      invite_unknown: 'Такого приглашения нет, или его отозвали. Попросите новое.',
      invite_used: 'Приглашение уже использовано: каждое годится для одной учётной записи. Попросите новое.',
      invite_expired: 'Срок приглашения истёк. Попросите новое.',
      invite_other_address:
        'Приглашение выписано на другой адрес почты, или провайдер не подтвердил ваш. Войдите с тем адресом, на который его прислали.',
      invite_full: 'В рабочем пространстве, куда вас пригласили, уже столько участников, сколько возможно.',
    },
  },
};
