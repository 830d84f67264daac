import type { Words } from './words.ts';

const rules = new Intl.PluralRules('en');

function counted(count: number, one: string, other: string): string {
  return `${count} ${rules.select(count) === 'one' ? one : other}`;
}

const days = (count: number): string => counted(count, 'day', 'days');

export const en: Words = {
  language: 'en-GB',
  name: 'English',
  openGraph: 'en_GB',
  languages: 'Language',
  banner: {
    none: 'All systems operational',
    maintenance: 'Maintenance in progress',
    minor: 'Minor service disruption',
    major: 'Partial system outage',
    critical: 'Major system outage',
    unknown: 'No data',
  },
  affected: (count, of) =>
    `${count} of ${counted(of, 'component', 'components')} ${count === 1 ? 'is' : 'are'} affected`,
  asOf: 'As of',
  stale: 'This page could not be refreshed since then. What it says may be out of date.',
  since: 'since',
  empty: 'This page shows no components yet.',
  status: {
    operational: 'Operational',
    maintenance: 'Maintenance',
    degraded: 'Degraded performance',
    partial_outage: 'Partial outage',
    major_outage: 'Major outage',
    unknown: 'No data',
  },
  announcement: 'Announcement',
  links: 'Links',
  skip: 'Skip to the content',
  today: 'Today',
  components: 'Components',
  days,
  bar: (count, { x, p, d, m, n }) => {
    const said = [
      x > 0 && `${x} with an outage`,
      p > 0 && `${p} with a short outage`,
      d > 0 && `${d} degraded`,
      m > 0 && `${m} of maintenance`,
      n > 0 && `${n} without data`,
    ].filter((each) => each !== false);
    return `${days(count)}: ${said.length === 0 ? 'no trouble' : said.join(', ')}`;
  },
  uptime: (percent) => `${percent} uptime`,
  noUptime: 'no uptime data',
  measured: (percent) => `measured ${percent} of the time`,
  legend: 'What the bars mean',
  howBarsRead: 'Each bar is a day. The taller the bar, the worse the day.',
  legends: {
    u: 'No trouble',
    d: 'Degraded performance',
    p: 'Outage of less than 1% of the day',
    x: 'Outage of 1% of the day or more',
    m: 'Maintenance for most of the day',
    n: 'No data for more than a tenth of the day',
  },
  troubledDays: (count) => counted(count, 'day with trouble', 'days with trouble'),
  latestOf: (shown, all) => `${counted(all, 'day with trouble', 'days with trouble')}, the latest ${shown}`,
  down: (duration) => `outage of ${duration}`,
  degraded: (duration) => `degraded for ${duration}`,
  maintained: (duration) => `maintenance for ${duration}`,
  responseTime: 'Response time',
  responseRange: (least, most) => (least === most ? `${least} ms` : `${least}–${most} ms`),
  responseDetail: (days, latest) => `Median of each day over ${days}; ${latest} ms on the latest.`,
  openIncidents: 'Open incidents',
  incident: 'Incident',
  incidentTitle: (names, impact) =>
    `${names}: ${impact === 'none' ? 'incident' : impact === 'minor' ? 'disruption' : 'outage'}`,
  incidentStatus: {
    investigating: 'Investigating',
    identified: 'Identified',
    monitoring: 'Monitoring',
    resolved: 'Resolved',
    note: 'Update',
    postmortem: 'Postmortem',
  },
  impact: { none: 'No impact', minor: 'Minor impact', major: 'Major impact', critical: 'Critical impact' },
  began: (names) =>
    names === '' ? 'Our checks have found a problem.' : `Our checks have found a problem with ${names}.`,
  ended: (names, duration) =>
    `${names === '' ? 'Our checks succeed again.' : `Our checks of ${names} succeed again.`}${duration === null ? '' : ` The incident lasted ${duration}.`}`,
  lasted: (duration) => `lasted ${duration}`,
  ongoing: 'ongoing',
  affects: 'Affects',
  updates: 'Updates',
  noUpdates: 'No updates have been published.',
  postmortem: 'Postmortem',
  resolved: 'Resolved',
  maintenance: 'Maintenance',
  maintenanceStatus: { scheduled: 'Scheduled', in_progress: 'In progress', completed: 'Completed' },
  maintenanceNow: 'Ongoing maintenance',
  maintenanceUpcoming: 'Upcoming maintenance',
  recentIncidents: 'Recent incidents',
  noIncidents: 'No incidents',
  history: 'History',
  wholeHistory: 'Full history',
  nothingInHistory: 'Nothing was wrong in the days that this page shows.',
  troubles: 'Days with trouble',
  incidents: 'Incidents',
  back: (name) => `Status of ${name}`,
  feeds: 'Feeds',
  calendar: 'Maintenance calendar',
  subscribe: 'Subscribe',
  timesIn: 'Times are in',
  showTimesIn: 'Show times in',
  poweredBy: 'Powered by',
};
