// The area rules of ARCHITECTURE.md. `npm run verify` also asserts how many modules were read, since a tool that reads none finds nothing.
const areas = ['platform', 'identity', 'monitoring', 'response', 'reporting'];
const doesIo = '[/.](routes|queries|consumer|job|gateway)\\.ts$';
// What tests stand on: it may do whatever a test may.
const forTests = '(\\.test|\\.fixture|/testing|/testing/.*|/world|/fixture|/test-[a-z-]+)\\.ts$';
// The ingest is made of parts that are named after their step; these are the ones that touch the broker or the database.
const ingestIo = '^control-plane/src/monitoring/check-results/ingest/(fetch|write|configuration|partitions)\\.ts$';
// Range edits are written in the transaction of the ingest and have a file of their own beside the queries that read them.
const rangeEdits = '^control-plane/src/monitoring/status-ranges/write-edits\\.ts$';
// The parser does not tell imports of types from others. These name types of the database or the broker, and nothing of them that runs.
const onlyTypesOfDatabase = [
  '^control-plane/src/monitoring/check-results/ingest/owner-options\\.ts$',
  '^control-plane/src/monitoring/monitors/emptying/rows\\.ts$',
  '^control-plane/src/reporting/live-events/hub\\.ts$',
  '^control-plane/src/response/alerts/channels-gateway\\.ts$',
  '^control-plane/src/response/channels/sending/reached-keys\\.ts$',
  '^control-plane/src/response/messenger/index\\.ts$',
];

const areaOrder = areas.slice(0, -1).map((area, index) => ({
  name: `area-order-${area}`,
  comment: `${area} may not know what lies to its right: ${areas.slice(index + 1).join(', ')}`,
  severity: 'error',
  from: { path: `^control-plane/src/${area}/` },
  to: { path: `^control-plane/src/(${areas.slice(index + 1).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...areaOrder,
    {
      name: 'capability-by-its-index',
      comment: 'another capability is imported through its index.ts only',
      severity: 'error',
      from: { path: '^control-plane/src/(identity|monitoring|response|reporting)/([^/]+)/', pathNot: forTests },
      to: {
        path: '^control-plane/src/(identity|monitoring|response|reporting)/[^/]+/',
        pathNot: ['^control-plane/src/$1/$2/', '/index\\.ts$'],
      },
    },
    {
      name: 'pure-does-no-io',
      comment: 'only routes, queries, consumer, job and gateway do I/O; everything else in a capability is pure',
      severity: 'error',
      from: {
        path: '^control-plane/src/(identity|monitoring|response|reporting)/',
        pathNot: [doesIo, forTests, ingestIo, rangeEdits, ...onlyTypesOfDatabase],
      },
      to: {
        path: '^(node:)?(fs|fs/promises|net|tls|http|https|http2|dgram|dns|dns/promises|child_process|worker_threads)$|node_modules/(slonik|pg|pg-copy-streams|@nats-io/(transport-node|jetstream)|@grpc/grpc-js|undici|fastify)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'platform-knows-no-business',
      severity: 'error',
      from: { path: '^control-plane/src/platform/', pathNot: forTests },
      to: { path: '^control-plane/src/(?!platform/|role\\.ts|version\\.ts)' },
    },
    {
      name: 'packages-know-no-process',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(control-plane|probe-agent)/' },
    },
    {
      name: 'processes-apart',
      comment: 'the agent and the control plane meet on the wire only',
      severity: 'error',
      from: { path: '^(control-plane|probe-agent)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(control-plane|probe-agent)/', pathNot: '^$1/' },
    },
    {
      name: 'no-test-kit-in-the-product',
      severity: 'error',
      from: { path: '^(packages/(?!testkit)|control-plane|probe-agent)', pathNot: forTests },
      to: { path: '^packages/testkit/' },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // Anchored: a pattern for any folder named dist would also hide the packages whose code lies in one, such as slonik, from the rules.
    exclude: { path: '^packages/wire/src/generated/' },
    skipAnalysisNotInRules: true,
    tsPreCompilationDeps: false,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs', '.json'], exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
