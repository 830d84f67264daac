/** Every word of the page of an invitation, in one language. */
export type InvitePageWords = {
  readonly title: string;
  readonly error: string;
  readonly invites: (who: string, workspace: string | undefined) => string;
  readonly somebody: string;
  readonly may: Readonly<Record<'editor' | 'viewer', string>>;
  readonly mailedTo: (email: string) => string;
  readonly paste: readonly [head: string, text: string];
  readonly link: string;
  readonly show: string;
  readonly create: string;
  readonly signIn: string;
  readonly email: string;
  readonly password: string;
  readonly passwordHint: string;
  readonly code: string;
  readonly codeHint: string;
  readonly createButton: string;
  readonly signInButton: string;
  readonly joined: (workspace: string | undefined) => string;
  readonly member: string;
  readonly signInNow: string;
  readonly confirm: string;
  readonly open: string;
  readonly dead: Readonly<Record<'unknown' | 'used' | 'expired' | 'full', readonly [head: string, text: string]>>;
  readonly problems: Readonly<Record<FormProblem, string>>;
};

/** What can be wrong with a form. */
export const formProblems = [
  'email',
  'password',
  'missing_password',
  'code',
  'credentials',
  'second_factor',
  'wrong_second_factor',
  'email_taken',
  'other_address',
  'closed',
  'busy',
  'elsewhere',
] as const;
export type FormProblem = (typeof formProblems)[number];

const en: InvitePageWords = {
  title: 'Parallax: invitation',
  error: 'Error',
  invites: (who, workspace) =>
    `${who} invites you to ${workspace === undefined ? 'a workspace' : `the workspace “${workspace}”`}`,
  somebody: 'Somebody who has left since',
  may: { editor: 'You will be able to see and change its monitors.', viewer: 'You will be able to see its monitors.' },
  mailedTo: (email) => `The invitation is for the address ${email}.`,
  paste: ['Open an invitation', 'Paste the whole link of your invitation.'],
  link: 'Invitation link',
  show: 'Show the invitation',
  create: 'Create an account',
  signIn: 'Or sign in to your account',
  email: 'Mail address',
  password: 'Password',
  passwordHint: 'At least 8 characters, and not one that others use.',
  code: 'Code of your second factor',
  codeHint: 'If your account has one: from your authenticator app, or a recovery code.',
  createButton: 'Create the account and join',
  signInButton: 'Sign in and join',
  joined: (workspace) =>
    workspace === undefined ? 'You have joined the workspace' : `You have joined the workspace “${workspace}”`,
  member: 'You are a member of this workspace already',
  signInNow: 'Sign in with your address and password to see it. You can close this page.',
  confirm: 'A mail with a link to confirm your address is on its way.',
  open: 'Open Parallax',
  dead: {
    unknown: ['This invitation does not work', 'It does not exist or was withdrawn. Ask for a new one.'],
    used: ['This invitation was used', 'Each invitation is good for one person. Ask for a new one.'],
    expired: ['This invitation has expired', 'Invitations work for 14 days. Ask for a new one.'],
    full: ['The workspace is full', 'It has as many members as it may have. Ask its owner to make room.'],
  },
  problems: {
    email: 'This is not a complete mail address.',
    password: 'This password is too short or too common. Choose another one.',
    missing_password: 'Enter your password.',
    code: 'This is not a code of a second factor.',
    credentials: 'The address or the password is wrong.',
    second_factor: 'Your account has a second factor. Enter your password and a code.',
    wrong_second_factor: 'This code is wrong or was used before. Wait for the next one.',
    email_taken: 'This address has an account already. Sign in to it.',
    other_address: 'The invitation is for another mail address. Use the account with the address that it was sent to.',
    closed: 'New accounts are closed here. Sign in to an account that exists.',
    busy: 'Too many tries. Wait a minute and try again.',
    elsewhere: 'The form was sent from another site. Check what it says and send it from here.',
  },
};

const ru: InvitePageWords = {
  title: 'Parallax: приглашение',
  error: 'Ошибка',
  invites: (who, workspace) =>
    `${who} приглашает вас в рабочее пространство${workspace === undefined ? '' : ` «${workspace}»`}`,
  somebody: 'Бывший участник',
  may: { editor: 'Вы сможете просматривать и изменять мониторы.', viewer: 'Вы сможете просматривать мониторы.' },
  mailedTo: (email) => `Приглашение выписано на адрес ${email}.`,
  paste: ['Открыть приглашение', 'Вставьте ссылку из приглашения целиком.'],
  link: 'Ссылка приглашения',
  show: 'Показать приглашение',
  create: 'Создать учётную запись',
  signIn: 'Или войти в свою учётную запись',
  email: 'Адрес почты',
  password: 'Пароль',
  passwordHint: 'Не меньше 8 символов и не из распространённых.',
  code: 'Код второго фактора',
  codeHint: 'Если он у вас есть: из приложения-аутентификатора или код восстановления.',
  createButton: 'Создать и присоединиться',
  signInButton: 'Войти и присоединиться',
  joined: (workspace) =>
    workspace === undefined
      ? 'Вы присоединились к рабочему пространству'
      : `Вы присоединились к рабочему пространству «${workspace}»`,
  member: 'Вы уже участник этого рабочего пространства',
  signInNow: 'Чтобы его увидеть, войдите со своим адресом и паролем. Эту страницу можно закрыть.',
  confirm: 'Вам отправлено письмо со ссылкой для подтверждения адреса.',
  open: 'Открыть Parallax',
  dead: {
    unknown: ['Приглашение не действует', 'Такого приглашения нет, или его отозвали. Попросите новое.'],
    used: ['Приглашение уже использовано', 'Каждое годится для одного человека. Попросите новое.'],
    expired: ['Срок приглашения истёк', 'Приглашения действуют 14 дней. Попросите новое.'],
    full: ['В рабочем пространстве нет мест', 'Участников уже столько, сколько возможно. Обратитесь к владельцу.'],
  },
  problems: {
    email: 'Это не полный адрес почты.',
    password: 'Этот пароль слишком короткий или слишком распространённый. Выберите другой.',
    missing_password: 'Введите пароль.',
    code: 'Это не код второго фактора.',
    credentials: 'Адрес или пароль неверен.',
    second_factor: 'У вашей учётной записи есть второй фактор. Введите пароль и код.',
    wrong_second_factor: 'Код неверен или уже использован. Дождитесь следующего.',
    email_taken: 'Учётная запись с этим адресом уже есть. Войдите в неё.',
    other_address:
      'Приглашение выписано на другой адрес почты. Войдите в учётную запись с тем адресом, на который его прислали.',
    closed: 'Создание учётных записей здесь закрыто. Войдите в существующую.',
    busy: 'Слишком много попыток. Подождите минуту и повторите.',
    elsewhere: 'Форма отправлена с другого сайта. Проверьте её и отправьте отсюда.',
  },
};

export const invitePageWords: Readonly<Record<'en' | 'ru', InvitePageWords>> = { en, ru };
