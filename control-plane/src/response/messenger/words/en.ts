import { escapeHtml, nameInHtml } from '../html.ts';
import { listLines } from './lines.ts';
import type { Counts, OtherKind, Words } from './sayings.ts';

const units = { day: 'd', hour: 'h', minute: 'min', second: 's' };
const states: Readonly<Record<string, string>> = {
  UP: 'up',
  DOWN: 'down',
  TIMEOUT: 'down',
  DEGRADED: 'degraded',
  PARTIAL: 'partly down',
  WARNING: 'warning',
  UNKNOWN: 'unknown',
  paused: 'paused',
};

const alerts = (n: number): string => (n === 1 ? '1 alert' : `${n} alerts`);

const countsLine = (counts: Counts): string =>
  [
    `✅ ${counts.up} up`,
    ...(counts.down > 0 ? [`🔴 ${counts.down} down`] : []),
    ...(counts.degraded > 0 ? [`🟠 ${counts.degraded} degraded`] : []),
    ...(counts.unknown > 0 ? [`⚪ ${counts.unknown} unknown`] : []),
    ...(counts.paused > 0 ? [`⏸ ${counts.paused} paused`] : []),
  ].join(' · ');

const kinds: Readonly<Record<OtherKind, string>> = { heartbeat: 'Heartbeats', webhook_check: 'Webhook checks' };

const more = (left: number): string[] => (left > 0 ? [`… and ${left} more`] : []);

export const en: Words = {
  help: (isLinked) =>
    [
      '<b>Parallax</b> watches your services and tells this chat when one fails.',
      '',
      '/status — how everything stands',
      '/list — all that is watched, monitors with their numbers',
      '/pause NAME or number — stop checking one',
      '/resume NAME or number — check it again',
      '/mute 1h — no alerts here for an hour (30m, 2d …)',
      '/unmute — alerts again',
      ...(isLinked
        ? []
        : ['', 'You are not linked to an account yet: open the link that Parallax gives you in its settings.']),
    ].join('\n'),
  linkedPerson: (name) => `Hello ${nameInHtml(name)}, you are linked to your account now. /help says what I can do.`,
  linkedGroup: (workspace) =>
    `This group is linked to the workspace ${nameInHtml(workspace)} now. Choose it as the target of an alert.`,
  linkUnknown: 'This link is unknown, was used, or is older than 15 minutes. Ask for a new one in Parallax.',
  linkTaken: 'You are linked to another account already. Unlink yourself there first.',
  linkNoRight: 'Whoever made this link may not change the workspace any more. Ask one of its editors for a new link.',
  linkFull: 'The workspace has as many groups as it may have. Unlink one first.',
  notLinked: 'I do not know you yet. Open the link that Parallax gives you in its settings, then ask again.',
  groupNotLinked: 'This group is not linked to a workspace. An editor can link it in the settings of Parallax.',
  needsEditor: 'For this you need to be editor or owner of the workspace.',
  status: (workspace, counts, down, others) =>
    [
      `<b>${nameInHtml(workspace)}</b>`,
      counts.total === 0 ? 'No monitors.' : countsLine(counts),
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
      ...(total === 0 ? ['No monitors.'] : listLines(monitors, states, units)),
      ...more(total - monitors.length),
      ...others.flatMap(({ kind, counts, listed }) => [
        kinds[kind],
        ...listLines(listed, states, units),
        ...more(counts.total - listed.length),
      ]),
    ].join('\n'),
  nothingHere: 'There is no workspace that you can see.',
  paused: (monitor) => `⏸ ${nameInHtml(monitor)} is paused.`,
  resumed: (monitor) => `▶️ ${nameInHtml(monitor)} is checked again.`,
  unknownMonitor: (wanted) => `There is no monitor ${nameInHtml(wanted)} here. /list shows them all.`,
  ambiguous: (wanted, found) =>
    [
      `${nameInHtml(wanted)} may be one of several; use the number:`,
      ...found.map(({ id, name }) => `• ${nameInHtml(name)} — ${id}`),
    ].join('\n'),
  muted: (until, n) => `🔕 Muted until ${escapeHtml(until)} (${alerts(n)}). /unmute ends that.`,
  unmuted: (n) => `🔔 Not muted any more (${alerts(n)}).`,
  nothingToMute: 'No alert tells this chat anything.',
  usage: {
    pause: 'Which one? /pause NAME, or its number from /list.',
    resume: 'Which one? /resume NAME, or its number from /list.',
    mute: 'For how long? /mute 30m, /mute 1h, /mute 2d; at most a week.',
  },
  refused: (reason) => `That was refused: ${escapeHtml(reason)}`,
  failed: 'That did not work. Try again in a minute.',
  button: {
    acknowledged: 'Acknowledged',
    resolved: 'It is resolved already.',
    gone: 'It is gone, or you may not see it.',
    muted: 'Muted for an hour',
    nothingToMute: 'No alert tells this chat anything.',
    notLinked: 'I do not know you yet. Write /start to me in a private chat.',
    needsEditor: 'For this you need to be editor or owner of the workspace.',
    failed: 'That did not work. Try again in a minute.',
  },
};
