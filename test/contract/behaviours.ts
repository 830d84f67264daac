/** A test by its file, without `control-plane/src/` and `.test.ts`, and its title. */
export type Shown = readonly [file: string, title: string];

const monitors = (file: string, title: string): Shown => [`monitoring/monitors/${file}`, title];
const groups = (file: string, title: string): Shown => [`monitoring/groups/${file}`, title];
const sla = (file: string, title: string): Shown => [`reporting/sla/${file}`, title];
const checks = (file: string, title: string): Shown => [`monitoring/api-checks/${file}`, title];
const statistics = (title: string): Shown => ['reporting/statistics/statistics', title];

const events = (title: string): Shown => ['response/events/events', title];
const analytics = (title: string): Shown => ['reporting/analytics/analytics', title];
const webhooks = (file: string, title: string): Shown => [`response/webhooks/${file}`, title];

const publicStatus = (title: string): Shown => ['reporting/status-pages/view/page-view', title];
const dashboard = (title: string): Shown => ['reporting/dashboard/dashboard', title];
const feedback = (title: string): Shown => ['reporting/feedback/feedback', title];

const reports = (file: string, title: string): Shown => [`reporting/scheduled-reports/${file}`, title];
const reportMade = 'a report is made, read, changed and deleted';
const reportTurned = 'a report is paused, resumed and toggled';
const reportSeen = 'viewers see masked addresses and change nothing, others see nothing';
const reportSigned = 'the figures are those of the monitors themselves, and the files are signed';
const subscribers = (title: string): Shown => ['reporting/status-pages/subscribers/editors', title];
const pages = (file: string, title: string): Shown => [`reporting/status-pages/pages/${file}`, title];
const pageMade = 'a page is made, listed, read, changed and deleted';
const pageSeen = 'viewers read, editors write, others see nothing';
const pageDomains = (title: string): Shown => ['reporting/status-pages/domains/domains', title];
const pageFiles = (title: string): Shown => ['reporting/status-pages/files/files', title];
const pageDrawings = (title: string): Shown => ['reporting/status-pages/files/sanitize-svg', title];
const badges = (title: string): Shown => ['reporting/badges/badges', title];
const badgeMade = 'a badge is made once for each subject, listed, read and deleted';
const badgeSeen = 'viewers see no keys, others see nothing';
const made = 'a webhook is made, read, changed and deleted, and shows its secret once';
const seen = 'viewers see the origin and change nothing, others see nothing';
const letter = 'ten attempts fail, the dead letter is retried under the same id, and resolved';
const ofScopes = 'members see their workspaces, a limited token its own, others nothing';
const ofAuthor = 'feedback is sent, and read by its author and by administrators alone';
const ofAdministrators = 'administrators set the status and delete, others may not';
const exported = 'the files have proper names, the figures of the report, and are genuine';

/**
 * What each endpoint of monitors and of their groups does, and by which test it is shown. That it takes the credentials, statuses and
 * identifiers of the specification is shown of all by endpoints.test.ts, its query parameters by parameters.test.ts, who may call it by
 * access-matrix.test.ts, and what it refuses by bad-input.test.ts.
 */
export const endpoints: Readonly<Record<string, readonly Shown[]>> = {
  'GET /api/v1/events': [
    events('reading: filters, places, tenants and waiting'),
    events('several processes make each event once'),
  ],
  'GET /api/v1/events/stream': [
    ['reporting/live-events/live-events', 'what changes is told as it happens, to who may see it'],
  ],
  'GET /api/v1/analytics/availability': [
    analytics('series say what the statistics of their monitors say, in the buckets of any zone'),
    analytics('regions and probes go by their own votes'),
    analytics('what cannot be asked is refused, and what others own is not there'),
  ],
  'GET /api/v1/analytics/latency': [
    ['reporting/analytics/latency', 'series say what their results come to, in UTC and in other zones'],
  ],
  'GET /api/v1/analytics/worst': [analytics('the worst monitors are found, as JSON and as CSV')],
  'GET /api/v1/analytics/noisiest': [analytics('noise is counted: incidents, messages that were sent, and flapping')],
  'GET /api/v1/analytics/response': [analytics('response: means of the incidents that began in each bucket')],
  'GET /api/v1/public/status/{slug}': [
    publicStatus('the page tells what is public, with the days that the ranges come to'),
    publicStatus('nothing that is not public is told'),
    publicStatus('a page that is not published is not there, and a former slug leads to it'),
  ],
  'GET /api/v1/badges': [badges(badgeMade), badges(badgeSeen)],
  'POST /api/v1/badges': [badges(badgeMade), badges(badgeSeen)],
  'GET /api/v1/badges/{id}': [badges(badgeMade), badges(badgeSeen)],
  'DELETE /api/v1/badges/{id}': [badges(badgeMade), badges('a badge goes with its subject')],
  'POST /api/v1/badges/{id}/rotate': [badges('a key is exchanged, stored sealed, and recorded'), badges(badgeSeen)],
  'GET /api/v1/dashboard/stats': [dashboard('what there is is counted by its state'), dashboard(ofScopes)],
  'GET /api/v1/dashboard/uptime-summary': [
    dashboard('uptime is that of the monitors, to the last digit'),
    dashboard(ofScopes),
  ],
  'GET /api/v1/dashboard/alerts-summary': [
    dashboard('messages are counted by what became of them, and timed'),
    dashboard(ofScopes),
  ],
  'GET /api/v1/dashboard/incidents': [
    dashboard('incidents that are open, those that ended lately, and how long it took'),
    dashboard(ofScopes),
  ],
  'GET /api/v1/dashboard/combined': [
    dashboard('all parts at once, and those that fail are named'),
    dashboard('an answer is kept for ten seconds, for its caller and question alone'),
  ],
  'POST /api/v1/feedback': [
    feedback(ofAuthor),
    feedback('an account sends ten items in 24 hours'),
    feedback('administrators are mailed once an hour at most, about what others sent'),
  ],
  'GET /api/v1/feedback': [feedback(ofAuthor)],
  'GET /api/v1/feedback/{id}': [
    feedback(ofAuthor),
    feedback('items of a deleted account lose their user and address, and three years end all'),
  ],
  'PUT /api/v1/feedback/{id}/status': [
    feedback(ofAdministrators),
    feedback('each reply is mailed to the author once, in their language'),
  ],
  'DELETE /api/v1/feedback/{id}': [feedback(ofAdministrators)],
  'GET /api/v1/webhooks/events': [events('an outage from its beginning to its end, in numbers without a gap')],
  'GET /api/v1/webhooks': [webhooks('webhooks', made), webhooks('webhooks', seen)],
  'POST /api/v1/webhooks': [webhooks('webhooks', made), webhooks('webhooks', 'what cannot be is refused by its place')],
  'GET /api/v1/webhooks/{id}': [webhooks('webhooks', made), webhooks('webhooks', seen)],
  'PATCH /api/v1/webhooks/{id}': [webhooks('webhooks', made), webhooks('webhooks', seen)],
  'DELETE /api/v1/webhooks/{id}': [webhooks('webhooks', made), webhooks('webhooks', seen)],
  'POST /api/v1/webhooks/{id}/test': [
    webhooks('sending', 'a test is one attempt with its steps, also while it is off, and counted nowhere'),
  ],
  'POST /api/v1/webhooks/{id}/secret': [
    webhooks('sending', 'receivers verify with the libraries of the standard, also across a rotation with grace'),
  ],
  'GET /api/v1/webhooks/{id}/deliveries': [
    webhooks('webhooks', 'events are queued by type, scope and maintenance, once, and missed while it is off'),
  ],
  'GET /api/v1/webhooks/{id}/deliveries/{delivery_id}': [
    webhooks('sending', 'what a receiver answers decides what becomes of a delivery'),
  ],
  'POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver': [webhooks('sending', letter)],
  'POST /api/v1/webhooks/{id}/redeliver': [
    webhooks('upkeep/failing', 'a webhook that fails for five days is switched off with mails before, and catches up'),
  ],
  'GET /api/v1/webhooks/{id}/stats': [
    webhooks('sending', 'receivers verify with the libraries of the standard, also across a rotation with grace'),
  ],
  'GET /api/v1/webhooks/{id}/dlq': [webhooks('sending', letter)],
  'POST /api/v1/webhooks/{id}/dlq/{dlq_id}/retry': [webhooks('sending', letter)],
  'POST /api/v1/webhooks/{id}/dlq/{dlq_id}/resolve': [webhooks('sending', letter)],
  'GET /api/v1/status-pages': [pages('status-pages', pageMade), pages('status-pages', pageSeen)],
  'POST /api/v1/status-pages': [
    pages('status-pages', pageMade),
    pages('status-pages', 'what cannot be is refused by its place'),
    pages('status-pages', 'a workspace has so many pages and no more'),
    pages('slugs', 'a slug is made from the name, and gets a number where it is taken'),
    pages('slugs', 'two that want one slug at the same time: one has it'),
  ],
  'POST /api/v1/status-pages/preview': [
    pages('preview', 'a page is shown as it would look, with what is measured now, and nothing is stored'),
  ],
  'GET /api/v1/status-pages/{id}': [
    pages('status-pages', pageMade),
    pages('hooks', 'what is deleted leaves its pages, and a page that is empty says so'),
  ],
  'PUT /api/v1/status-pages/{id}': [
    pages(
      'status-pages',
      'an answer may be sent back, null goes back to the default, and what changes nothing is no version',
    ),
    pages('status-pages', 'colours that can hardly be told apart are refused, with the nearest that pass'),
    pages('slugs', 'a former slug leads to its page for 90 days, and the page may take it again'),
    pages('items', 'a page shows subjects of every type, in the order of the list'),
  ],
  'DELETE /api/v1/status-pages/{id}': [
    pages('status-pages', pageMade),
    pages('slugs', 'the slugs of a deleted page lead nowhere and stay taken for 30 days; then all of it is forgotten'),
  ],
  'POST /api/v1/status-pages/{id}/monitors': [
    pages('items', 'items are added behind those that are there, which stay as they are'),
    pages('items', 'what belongs to others or is not there is 404 by its place, and nothing is written'),
    pages('items', 'a page has 200 items at most, and its positions stay small however often they change'),
  ],
  'DELETE /api/v1/status-pages/{id}/monitors/{monitor_id}': [
    pages('items', 'an item is taken out by its type and number; one that is not there is 404'),
  ],
  'POST /api/v1/status-pages/{id}/domain/verify': [
    pageDomains('a domain is verified by a record in its DNS, and then serves the page at its root'),
    pageDomains('a domain is claimed by many, and belongs to whom proves it first'),
    pageDomains('a proof that is gone for a week ends the domain, with a mail to the owner'),
  ],
  'PUT /api/v1/status-pages/{id}/files/{kind}': [
    pageFiles('they are shown in the head of the page, by scheme, and served for ever'),
    pageFiles('what is no picture, or too large, is refused'),
    pageDrawings('whatever acts, loads or is unknown is refused by its name'),
  ],
  'DELETE /api/v1/status-pages/{id}/files/{kind}': [pageFiles('they are taken away, and are gone with their page')],
  'GET /api/v1/status-pages/{id}/subscribers': [
    subscribers('whoever is added is asked, and told nothing before'),
    subscribers('the list goes on where it ended'),
    subscribers('an export can be imported, and a file that is wrong adds nobody'),
    subscribers('viewers do not see them, and the plan has room for so many'),
  ],
  'POST /api/v1/status-pages/{id}/subscribers': [
    subscribers('whoever is added is asked, and told nothing before'),
    subscribers('what cannot be is refused by its place'),
    subscribers('viewers do not see them, and the plan has room for so many'),
  ],
  'POST /api/v1/status-pages/{id}/subscribers/import': [
    subscribers('an export can be imported, and a file that is wrong adds nobody'),
  ],
  'DELETE /api/v1/status-pages/{id}/subscribers/{subscriber_id}': [
    subscribers('one who is removed is told nothing more'),
  ],
  'GET /api/v1/scheduled-reports': [reports('scheduled-reports', reportMade)],
  'POST /api/v1/scheduled-reports': [
    reports('scheduled-reports', reportMade),
    reports('scheduled-reports', 'what cannot be is refused by its place'),
    reports('scheduled-reports', 'readers of other addresses are asked first'),
  ],
  'GET /api/v1/scheduled-reports/{id}': [
    reports('scheduled-reports', reportMade),
    reports('scheduled-reports', 'a scope that has become empty says so and may be sent back'),
  ],
  'PUT /api/v1/scheduled-reports/{id}': [
    reports('scheduled-reports', reportMade),
    reports('scheduled-reports', 'a scope that has become empty says so and may be sent back'),
  ],
  'DELETE /api/v1/scheduled-reports/{id}': [
    reports('scheduled-reports', reportMade),
    reports('making', 'who has not agreed, or has ended this report, gets nothing, and the run says so'),
  ],
  'POST /api/v1/scheduled-reports/{id}/pause': [reports('scheduled-reports', reportTurned)],
  'POST /api/v1/scheduled-reports/{id}/resume': [
    reports('scheduled-reports', reportTurned),
    reports('scheduled-reports', 'a report whose owner has left is disabled until an editor takes it over'),
  ],
  'POST /api/v1/scheduled-reports/{id}/toggle': [reports('scheduled-reports', reportTurned)],
  'POST /api/v1/scheduled-reports/{id}/run': [
    reports(
      'making',
      'a run by hand is made while the report is paused, one at a time, and sends nothing unless told to',
    ),
  ],
  'GET /api/v1/scheduled-reports/{id}/runs': [
    reports('making', 'at its time a report is made once, kept, and mailed to all who agreed'),
    reports('scheduled-reports', reportSeen),
  ],
  'GET /api/v1/scheduled-reports/{id}/runs/{run_id}/pdf': [reports('making', reportSigned)],
  'GET /api/v1/scheduled-reports/{id}/runs/{run_id}/csv': [reports('making', reportSigned)],
  'POST /api/v1/monitors': [
    monitors('monitors', 'a monitor is created with its history, answered whole and read again'),
    monitors('monitors', 'what is wrong with a body is said with its place'),
    monitors('values', 'a new monitor has the documented defaults'),
  ],
  'GET /api/v1/monitors': [
    monitors('list/list', 'a page fits the contract and knows how many match'),
    monitors('list/reference', 'every sort, order and filter is as the reference has it'),
    monitors('list/list', 'the search is a literal part of name or URL in any case'),
  ],
  'GET /api/v1/monitors/{monitor_id}': [
    monitors('monitors', 'a monitor is created with its history, answered whole and read again'),
    monitors('monitors', 'viewers read, editors write, strangers see nothing'),
  ],
  'PATCH /api/v1/monitors/{monitor_id}': [
    monitors('monitors', 'a change is held against If-Match and spends a version only when something changed'),
    monitors('values', 'null goes back to the default'),
    monitors('monitors', 'secrets are sealed, never answered, and dropped when the destination changes'),
  ],
  'DELETE /api/v1/monitors/{monitor_id}': [
    monitors(
      'lifecycle/lifecycle',
      'deleting empties the data, frees the probes, runs the hooks and answers 204, then 404',
    ),
    groups('members/members', 'a deleted monitor leaves its groups'),
  ],
  'POST /api/v1/monitors/{monitor_id}/pause': [
    monitors(
      'lifecycle/lifecycle',
      'pausing writes the interval and tells others, resuming ends it; both are idempotent',
    ),
  ],
  'POST /api/v1/monitors/{monitor_id}/resume': [
    monitors(
      'lifecycle/lifecycle',
      'pausing writes the interval and tells others, resuming ends it; both are idempotent',
    ),
  ],
  'POST /api/v1/monitors/{monitor_id}/reset-stats': [
    monitors(
      'reset/reset',
      'a reset removes all that was measured of its monitor, keeps its configuration and says what went',
    ),
    monitors('reset/reset', 'it wants a clear word, the role editor and the present version'),
  ],
  'PUT /api/v1/monitors/reorder': [
    monitors('reorder/reorder', 'the listed come first, the others keep their order behind them'),
    monitors(
      'reorder/reorder',
      'what is not there, deleted, foreign or doubled is named by its place, and nothing is changed',
    ),
    monitors('reorder/reorder', 'of fifty orders at once the last one stands, whole'),
  ],
  'GET /api/v1/monitors/dnsbl-providers': [
    ['monitoring/dnsbl/routes', 'the lists that are asked by default are answered to keys and tokens'],
  ],
  'POST /api/v1/monitors/test': [
    monitors('test/test', 'without probes the control plane tests, tells every step, and stores nothing'),
    monitors('test/test', 'probes that cannot be asked are refused by name, and those that do not answer are told'),
  ],
  'POST /api/v1/monitors/{monitor_id}/check': [
    monitors('check/check', 'every assigned probe is asked, and what is missing is said'),
    monitors(
      'check/check',
      'a monitor without probes is checked by the control plane; the result is kept as manual and counts nowhere',
    ),
  ],
  'GET /api/v1/monitors/{monitor_id}/stats': [
    statistics('availability comes from ranges, numbers and times from results, of each probe too'),
  ],
  'GET /api/v1/monitors/{monitor_id}/results': [
    monitors('history/history', 'results are newest first, with phases, status and error'),
    monitors('history/history', 'both ends of a time filter are inclusive, and the count can be left out'),
  ],
  'GET /api/v1/monitors/{monitor_id}/status-ranges': [
    monitors(
      'history/history',
      'status ranges are newest first, the ongoing one open; hours gives those that overlap, whole',
    ),
  ],
  'GET /api/v1/monitors/{monitor_id}/status-ranges/{range_id}/evidence': [
    monitors(
      'range-evidence/range-evidence',
      'a range says who voted what, when and why, who was missing, and what probes saw',
    ),
  ],
  'GET /api/v1/monitors/{monitor_id}/timeline': [
    monitors(
      'history/history',
      'the timeline of one probe or none is of results, of several of ranges unless a probe is named',
    ),
    monitors('history/history', 'a timeline of more than 10,000 results is merged, and stands for every one of them'),
  ],
  'GET /api/v1/monitors/{monitor_id}/response-time-distribution': [
    statistics('a distribution has percentiles and a histogram that loses nothing, of all or of one probe'),
  ],
  'GET /api/v1/monitors/{monitor_id}/latency': [
    ['reporting/statistics/windows', 'a bucket has exactly the figures that the statistics have of its time'],
    ['reporting/statistics/windows', 'a series of each probe or region has what they measured'],
  ],
  'GET /api/v1/monitors/{monitor_id}/sla': [
    sla('sla', 'a report has times, outages, repairs and, with a target, a budget'),
  ],
  'GET /api/v1/monitors/{monitor_id}/sla/export/csv': [
    sla('verify/verify', exported),
    sla('export/csv', 'the figures are those of the report'),
  ],
  'GET /api/v1/monitors/{monitor_id}/sla/export/pdf': [
    sla('verify/verify', exported),
    sla('pdf/render', 'an ordinary report says what a customer wants to know'),
  ],
  'GET /api/v1/monitors/{monitor_id}/sla/corrections': [
    sla('sla', 'a correction changes figures from then on, and says what they were'),
  ],
  'POST /api/v1/monitors/{monitor_id}/sla/corrections': [
    sla('sla', 'a correction changes figures from then on, and says what they were'),
    sla('sla', 'a time that cannot be corrected is refused'),
  ],
  'GET /api/v1/monitors/{monitor_id}/sla/ledger': [
    sla('sla', 'corrections that are made at once all stand in the ledger, in order'),
  ],
  'GET /api/v1/monitors/{monitor_id}/cert-chain': [
    [
      'monitoring/certificates/routes',
      'without probes the control plane shakes hands, once for all who ask, and keeps it for five minutes',
    ],
    ['monitoring/certificates/routes', 'what cannot be reached, may not be reached, or has no TLS is said'],
  ],
  'GET /api/v1/monitors/{monitor_id}/dnsbl/provider-history': [
    ['monitoring/dnsbl/history', 'changes are told once and make a history; what repeats makes no row'],
    ['monitoring/dnsbl/history', 'who may ask, and for what'],
    ['monitoring/dnsbl/samples', 'a window has some 300 samples, none of them before it'],
  ],
  'GET /api/v1/monitors/export/csv': [
    monitors('transfer/transfer', 'an export keeps to its filters'),
    monitors('transfer/round-trip', '500 random monitors of all protocols come back from an export as they were'),
  ],
  'POST /api/v1/monitors/import/csv': [
    monitors('transfer/transfer', 'a list of URLs becomes monitors with history, seats and audit, told once'),
    monitors('transfer/transfer', 'a dry run answers the plan with differences and writes nothing'),
  ],
  'POST /api/v1/monitors/bulk': [
    monitors('bulk/bulk', 'pauses and resumes; what is so already stays as it is'),
    monitors('bulk/bulk', 'the role is judged for each monitor; what is foreign is not there'),
  ],
  'POST /api/v1/monitors/{monitor_id}/simulate': [
    monitors('simulate/simulate', 'settings are tried on what was measured, side by side with what they were'),
  ],
  'GET /api/v1/monitor-groups': [groups('groups', 'lists are by name, narrowed by workspace and search, in pages')],
  'POST /api/v1/monitor-groups': [
    groups('groups', 'a group is created with its members and tags, answered whole, read and listed'),
  ],
  'GET /api/v1/monitor-groups/{id}': [
    groups('groups', 'a group is created with its members and tags, answered whole, read and listed'),
  ],
  'PUT /api/v1/monitor-groups/{id}': [
    groups('groups', 'PUT keeps what is absent, null clears the description, and nothing changed is no version'),
    groups('pauses/pauses', 'PUT of the group pauses as its status does'),
  ],
  'DELETE /api/v1/monitor-groups/{id}': [
    groups('pauses/pauses', 'joining and leaving a paused group pauses and resumes; so do its creation and deletion'),
  ],
  'POST /api/v1/monitor-groups/{id}/monitors': [
    groups('members/members', 'monitors are added and removed, and doing it again changes nothing'),
  ],
  'DELETE /api/v1/monitor-groups/{id}/monitors': [
    groups('members/members', 'what is removed stands in the body, in repeated parameters, or in both'),
  ],
  'POST /api/v1/monitor-groups/{id}/tags': [groups('members/members', 'a group has at most 1,000 members and 20 tags')],
  'DELETE /api/v1/monitor-groups/{id}/tags': [
    groups('members/members', 'what is removed stands in the body, in repeated parameters, or in both'),
  ],
  'GET /api/v1/monitor-groups/stats': [
    groups('groups', 'status and stats count members by category, and the health is the worst of the active ones'),
  ],
  'GET /api/v1/monitor-groups/{id}/status': [
    groups('groups', 'status and stats count members by category, and the health is the worst of the active ones'),
  ],
  'PUT /api/v1/monitor-groups/{id}/status': [
    groups('pauses/pauses', 'a paused group pauses its members and not their own switches; probes and others are told'),
  ],
  'GET /api/v1/api-checks': [checks('api-checks', 'an API check is a monitor in a flat shape')],
  'POST /api/v1/api-checks': [
    checks('api-checks', 'an API check is a monitor in a flat shape'),
    checks('api-checks', 'what is wrong is told by its place in the body'),
  ],
  'GET /api/v1/api-checks/{id}': [checks('api-checks', 'an API check is a monitor in a flat shape')],
  'PATCH /api/v1/api-checks/{id}': [checks('api-checks', 'secrets are merged by name, and stay at home')],
  'DELETE /api/v1/api-checks/{id}': [checks('api-checks', 'an API check is a monitor in a flat shape')],
  'POST /api/v1/api-checks/test': [
    checks('run', 'a test runs what is not stored, with the secrets of what it is an edition of'),
  ],
  'POST /api/v1/api-checks/{id}/run': [
    checks('run', 'a run answers each step: what it took, took out and found'),
    checks('run', 'a probe runs it, and what it does not tell is told as unknown'),
  ],
  'GET /api/v1/api-checks/{id}/results': [checks('run', 'a result like the one before names the same step')],
};

/** Rules that the specification has beside its tables. */
export const rules: Readonly<Record<string, readonly Shown[]>> = {
  'names of monitors are unique within the account': [
    monitors('monitors', 'a name is unique among all workspaces of one owner, and free again after deletion'),
  ],
  'interval_seconds below the minimum of the plan is 422 and says so': [
    monitors('monitors', 'the interval follows the plan of the owner of the workspace, not that of the caller'),
    monitors('values', 'an interval below the minimum of the plan is refused, and says which'),
  ],
  'a deletion that takes longer than the server waits is 504': [
    monitors(
      'lifecycle/lifecycle',
      'a deletion that takes too long answers 504, is finished in the background, and the same call answers 204',
    ),
  ],
  'manual checks count in no uptime': [
    monitors(
      'check/check',
      'a monitor without probes is checked by the control plane; the result is kept as manual and counts nowhere',
    ),
  ],
  'a test of a configuration, a check by hand, statistics and service levels take no API key': [
    monitors('check/check', 'an API key is not accepted'),
    monitors('test/test', 'who may test, and where'),
    statistics('who may ask what'),
    sla('sla', 'who may ask, correct and read'),
  ],
  'a blocklist monitor without lists asks the default ones': [
    ['monitoring/dnsbl/routes', 'dnsbl_servers are the lists that the check asks; none means the default ones'],
  ],
  'secrets are never exported, and an export can be imported again': [
    monitors('transfer/round-trip', '500 random monitors of all protocols come back from an export as they were'),
  ],
  'at most 500 rows and 1 MB are imported': [
    monitors(
      'transfer/hostile',
      'a file of exactly one megabyte is read and one byte more is too large, in a form and without',
    ),
    monitors('transfer/hostile', 'a file that is of no use is refused with its reason, and creates nothing'),
  ],
  'a row goes to the workspace of the request, of its column, or to the default one; viewers are refused': [
    monitors('transfer/transfer', 'rows go where they say, and who may only look is told so'),
    monitors(
      'transfer/plan/place',
      'a row goes where the request says, else where it says itself, else to the default',
    ),
  ],
  'duplicates are skipped or created anew; a name that clashes is skipped with its reason': [
    monitors(
      'transfer/transfer',
      'sent again, a file creates nothing; on_duplicate=create creates anew where the name is free',
    ),
    monitors('transfer/transfer', 'duplicates are judged against the state before the file'),
  ],
  'columns of other tools, their numeric types and the absence of a keyword are understood': [
    monitors('transfer/formats/formats', 'UptimeRobot, older form'),
    monitors('transfer/formats/formats', 'Better Stack'),
    monitors('transfer/formats/formats', 'a list with the names that people use'),
  ],
  'commas and semicolons are told apart': [
    monitors('transfer/formats/formats', 'byte order mark, line ends, empty lines and quoted delimiters'),
    monitors('transfer/formats/formats', 'Pingdom, with semicolons'),
  ],
  'Excel is refused': [
    monitors('transfer/hostile', 'a file that is of no use is refused with its reason, and creates nothing'),
  ],
  'a bad row does not stop the others': [
    monitors('transfer/transfer', 'all rules of creation hold, and a bad row does not stop the others'),
  ],
  'a paused group leaves the switches of its members as they are': [
    groups('pauses/pauses', 'a paused group pauses its members and not their own switches; probes and others are told'),
    groups('pauses/pauses', 'a member of two paused groups is paused until both are resumed'),
  ],
};
