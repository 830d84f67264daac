import { reasonsEn } from './reasons-en.ts';
import type { Counted, DurationParts, Manner, Many, Matter, Words } from './words.ts';

const rules = new Intl.PluralRules('en');

/** "1 minute", "2 minutes". */
function counted(count: number, one: string, other = `${one}s`): string {
  return `${count} ${rules.select(count) === 'one' ? one : other}`;
}

const units = { d: 'day', h: 'hour', min: 'minute', s: 'second' } as const;

function duration(parts: DurationParts): string {
  const [first, ...rest] = parts;
  if (first === undefined) return 'less than a second';
  if (rest.length === 0) return counted(first[1], units[first[0]]);
  return parts.map(([unit, count]) => `${count} ${unit}`).join(' ');
}

function list(names: readonly string[], more: number): string {
  if (more > 0) return `${names.join(', ')} and ${more} more`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

const things: Readonly<Record<Counted, string>> = {
  monitor: 'monitor',
  heartbeat: 'heartbeat',
  webhook_check: 'webhook check',
  check: 'check',
};

const problems: Readonly<Record<Matter, Readonly<Record<Manner, string>>>> = {
  down: { now: 'is down', again: 'is down again', still: 'is still down' },
  timeout: {
    now: 'does not answer in time',
    again: 'does not answer in time again',
    still: 'still does not answer in time',
  },
  missed: { now: 'sent no signal in time', again: 'again sent no signal in time', still: 'still sends no signal' },
  not_received: { now: 'received nothing in time', again: 'again received nothing', still: 'still receives nothing' },
  failed: { now: 'reported a failure', again: 'reported a failure again', still: 'still reports a failure' },
  degraded: { now: 'is degraded', again: 'is degraded again', still: 'is still degraded' },
  partial: {
    now: 'is down from some places',
    again: 'is down from some places again',
    still: 'is still down from some places',
  },
  warning: { now: 'has a warning', again: 'has a warning again', still: 'still has a warning' },
  unknown: {
    now: 'is in an unknown state',
    again: 'is in an unknown state again',
    still: 'is still in an unknown state',
  },
  flapping: { now: 'is flapping', again: 'is flapping again', still: 'is still flapping' },
  certificate: {
    now: 'has a certificate that expires soon',
    again: 'has a certificate that expires soon',
    still: 'still has a certificate that expires soon',
  },
  domain: {
    now: 'has a domain that expires soon',
    again: 'has a domain that expires soon',
    still: 'still has a domain that expires soon',
  },
  listed: { now: 'is on a blocklist', again: 'is on a blocklist again', still: 'is still on a blocklist' },
  offline: { now: 'is offline', again: 'is offline again', still: 'is still offline' },
  quarantined: { now: 'is in quarantine', again: 'is in quarantine again', still: 'is still in quarantine' },
  incident: { now: '', again: '(reopened)', still: '(still open)' },
};

const ends: Readonly<Record<Matter, string>> = {
  down: 'is up again',
  timeout: 'answers again',
  missed: 'sends its signals again',
  not_received: 'receives again',
  failed: 'reports success again',
  degraded: 'is no longer degraded',
  partial: 'is no longer down from some places',
  warning: 'has no warning any more',
  unknown: 'is in a known state again',
  flapping: 'is stable again',
  certificate: 'has a new certificate',
  domain: 'has its domain renewed',
  listed: 'is off the blocklist',
  offline: 'is online again',
  quarantined: 'is out of quarantine',
  incident: 'is resolved',
};

const pasts: Readonly<Record<Matter, string>> = {
  down: 'was down',
  timeout: 'did not answer in time',
  missed: 'sent no signal in time',
  not_received: 'received nothing in time',
  failed: 'reported a failure',
  degraded: 'was degraded',
  partial: 'was down from some places',
  warning: 'had a warning',
  unknown: 'was in an unknown state',
  flapping: 'was flapping',
  certificate: 'had a certificate that expires soon',
  domain: 'had a domain that expires soon',
  listed: 'was on a blocklist',
  offline: 'was offline',
  quarantined: 'was in quarantine',
  incident: 'was an incident',
};

function manyOf({ count, counted: kind }: Many): string {
  return counted(count, things[kind]);
}

function named({ count, names }: Many): string {
  return list(names, count - names.length);
}

const are = (count: number): string => (rules.select(count) === 'one' ? 'is' : 'are');

/** Sentences begin with a capital. */
function sentence(text: string): string {
  const [first = ''] = text;
  return `${first.toLocaleUpperCase('en')}${text.slice(first.length)}${/[.!?…]$/u.test(text) ? '' : '.'}`;
}

export const en: Words = {
  locale: 'en',
  dates: 'en-GB',
  unnamed: '(no name)',
  controlPlane: 'the control plane',
  reasons: reasonsEn,

  list,
  more: (count) => `and ${count} more`,
  duration,
  withDuration: (time, parts) => `${time} (${duration(parts)})`,

  problem: (name, matter, manner) => `${name} ${problems[matter][manner]}`.trim(),
  problems: (many, manner) =>
    `${manyOf(many)} ${manner === 'still' ? `${are(many.count)} still` : are(many.count)} down${manner === 'again' ? ' again' : ''}: ${named(many)}`,
  ended: (name, matter) => `${name} ${ends[matter]}`,
  endedMany: (many) => `${manyOf(many)} ${are(many.count)} up again: ${named(many)}`,
  past: (name, matter) => `${name} ${pasts[matter]}`,
  was: (name, matter, parts) => `${name} ${pasts[matter]} for ${duration(parts)}`,
  wasMany: (many) => `${manyOf(many)} ${many.count === 1 ? 'was' : 'were'} down: ${named(many)}`,
  expiry: (name, what, parts) => {
    const subject = `The ${what === 'certificate' ? 'certificate' : 'domain'} of ${name}`;
    return parts === null ? `${subject} has expired` : `${subject} expires in ${duration(parts)}`;
  },
  listed: (name, provider, isListed) =>
    isListed ? `${name} is on the blocklist ${provider}` : `${name} is off the blocklist ${provider}`,
  probe: (name, what) =>
    ({
      offline: `Probe ${name} is offline`,
      online: `Probe ${name} is online again`,
      quarantined: `Probe ${name} is in quarantine`,
      released: `Probe ${name} is out of quarantine`,
    })[what],
  flapping: (name, isFlapping) => (isFlapping ? `${name} goes up and down too often` : `${name} is stable again`),

  titles: {
    reminder: (title, parts) => `${title} (${duration(parts)})`,
    escalated: (title) => `Not acknowledged: ${title}`,
    acknowledged: (title) => `Acknowledged: ${title}`,
    updated: (title) => `Update: ${title}`,
    joined: (title) => `Now ${title}`,
    closed: (title) => `Resolved: ${title}`,
    removed: (title) => `Removed: ${title}`,
    corrected: (title) => `Correction, there was no outage: ${title}`,
    allClear: (maintenance) => `All clear after maintenance: ${maintenance}`,
    digest: (lasting, over) =>
      [...(lasting > 0 ? [counted(lasting, 'problem')] : []), ...(over > 0 ? [`${over} over`] : [])].join(', ') ||
      'Nothing is open',
    afterQuiet: (lasting, over) =>
      lasting > 0
        ? `Quiet hours are over: ${counted(lasting, 'problem')} still open`
        : `Quiet hours are over: all is well again (${counted(over, 'problem')} meanwhile)`,
    test: 'Test message from Parallax',
  },
  sentences: {
    seenFrom: ({ probes, failing, asked }) =>
      asked === 0
        ? `Seen from ${list(probes, 0)}.`
        : `Seen from ${list(probes, failing - probes.length)} (${failing} of ${counted(asked, 'probe')}).`,
    silent: (probes) => `No word from ${probes}.`,
    reason: sentence,
    exited: (code) => `It ended with exit code ${code}.`,
    joined: 'More checks fail for what seems to be the same cause.',
    reopened: 'It was said to be over, and it is not.',
    changed: 'Somebody changed this incident.',
    update: (text) => text,
    reminder: (count, isAcknowledged) =>
      `Reminder ${count}.${isAcknowledged ? '' : ' Nobody has acknowledged it yet.'}`,
    escalated: (step) => `Nobody has acknowledged it, so step ${step} of the escalation is told.`,
    acknowledged: (by) => (by === null ? 'Somebody takes care of it.' : `${by} takes care of it.`),
    lasted: (parts) => `It lasted for ${duration(parts)}.`,
    closedBy: (by) => (by === null ? 'It was resolved by hand.' : `${by} resolved it by hand.`),
    closing: (text) => `Closing words: ${text}`,
    paused: 'It ended because the check was paused.',
    deleted: 'It ended because the check was deleted.',
    reset: 'It was closed because the statistics were reset.',
    removedBy: (by, still) =>
      `The incident was removed${by === null ? '' : ` by ${by}`}${still === null ? '' : `; ${still}`}.`,
    folded: 'It is a part of another incident now.',
    corrected: 'Later results show that it was fine all the time.',
    recovered: 'It had been resolved by hand; now the checks succeed again.',
    recoveredRemoved: 'The incident had been removed by hand; now the checks succeed again.',
    wasDown: 'It was over before this could be told.',
    allClear: (count) => `${counted(count, 'outage')} began and ended during the maintenance. Nothing is to be done.`,
    certificate: (date) => `It is valid until ${date}. Renew it, and make sure that the server uses the new one.`,
    certificateEnded: (date) => `It was valid until ${date}. Visitors see a warning or nothing at all: renew it now.`,
    domain: (date) => `Its registration ends on ${date}. Renew it with the registrar.`,
    domainEnded: (date) => `Its registration ended on ${date}. Renew it now, or others may take the name.`,
    listed: (provider) => `Mail from it may be refused. Find the cause, then ask ${provider} to remove the entry.`,
    delisted: (provider) => `${provider} does not list it any more.`,
    offline:
      'Its checks are made by others meanwhile, as far as there are any. See whether its machine and its network work.',
    online: 'Its results count again.',
    quarantined: 'It contradicts all others. Its results do not count until it agrees with them again.',
    released: 'It agrees with the others, and its results count again.',
    flapping: 'Messages about it are held back until it is stable.',
    stable: 'You will be told about it as usual.',
    digest: (count) => `${count} messages came within a minute; here they are in one.`,
    afterQuiet: 'This is what was held back while it was to be quiet.',
    test: 'It works: messages about problems will arrive here.',
  },
  downReasons: {
    missed: 'No signal came when it was due, nor in the grace time after.',
    overran: 'A run takes longer than it may.',
    failed: 'It said so itself.',
    too_fast: 'It ended faster than it can have done its work.',
  },
  explanations: {
    missed: 'No signal came when it was due, nor in the grace time after.',
    not_received: 'Nothing was delivered when it was expected.',
    failed: 'It said so itself.',
    partial: 'It works for some probes and fails for others.',
    unknown: 'No probe can tell how it is.',
    incident: 'This incident was opened by hand.',
  },
  labels: {
    since: 'Since',
    began: 'Began',
    ended: 'Ended',
    lasted: 'Lasted',
    reason: 'Reason',
    said: 'It said',
    nextCheck: 'Next check',
    severity: 'Severity',
    acknowledgedBy: 'Acknowledged by',
    resolvedBy: 'Resolved by',
    expires: 'Expires',
    expired: 'Expired',
    blocklist: 'Blocklist',
    region: 'Region',
    maintenance: 'Maintenance',
    alert: 'Alert',
    workspace: 'Workspace',
  },
  headings: {
    probes: 'What each probe got',
    subjects: 'What is affected',
    lasting: 'Still open',
    over: 'Over',
    outages: 'Outages during the maintenance',
    text: 'What was written',
  },
  severities: { minor: 'minor', major: 'major', critical: 'critical' },
  votes: {
    UP: 'up',
    DOWN: 'down',
    TIMEOUT: 'no answer in time',
    DEGRADED: 'slow',
    WARNING: 'up, with a warning',
    MISSING: 'no word from it',
  },
  lineLasting: (title, since) => `${title}, since ${since}`,
  lineOver: (title, parts) => `${title} (lasted ${duration(parts)})`,
  links: { open: 'Open', acknowledge: 'Acknowledge', snooze: 'Snooze', unsubscribe: 'Unsubscribe' },
  openIncident: 'Open the incident',
};
