export * from './generated/parallax/probe/v1/enrolment.ts';
export * from './generated/parallax/probe/v1/results.ts';
export * from './generated/parallax/probe/v1/session.ts';
export * from './codec.ts';
