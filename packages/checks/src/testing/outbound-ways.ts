/**
 * Every way in which this product opens connections that somebody outside chose, beside the check types themselves. Each is a program of
 * the workspace that owns the way: it reads questions as lines of JSON (`protocol`, `url`, `settings`), goes out in its way under a policy
 * that allows nothing private, and prints for each question a line with the code of the outcome. A new way adds a line here.
 */
export type OutboundWay = {
  readonly name: string;
  /** From the root of the repository. */
  readonly program: string;
  readonly args: readonly string[];
  /** Each type is tried with one spelling out of so many. */
  readonly every: number;
};

export const outboundWays: readonly OutboundWay[] = [
  {
    name: 'monitor on a probe',
    program: 'probe-agent/src/testing/outbound-way.fixture.ts',
    args: ['monitor'],
    every: 7,
  },
  {
    name: 'test now on a probe',
    program: 'probe-agent/src/testing/outbound-way.fixture.ts',
    args: ['test'],
    every: 11,
  },
  {
    name: 'probe-agent check',
    program: 'probe-agent/src/testing/outbound-way.fixture.ts',
    args: ['command'],
    every: 23,
  },
  {
    name: 'check by the control plane',
    program: 'control-plane/src/monitoring/central-checks/testing/outbound-way.fixture.ts',
    args: [],
    every: 11,
  },
  {
    name: 'certificate chain on a probe',
    program: 'probe-agent/src/testing/outbound-way.fixture.ts',
    args: ['chain'],
    every: 5,
  },
  {
    name: 'certificate chain by the control plane',
    program: 'control-plane/src/monitoring/certificates/testing/outbound-way.fixture.ts',
    args: [],
    every: 5,
  },
  {
    name: 'messages by channels',
    program: 'control-plane/src/platform/outbound-http/testing/outbound-way.fixture.ts',
    args: [],
    every: 23,
  },
];
