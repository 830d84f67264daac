export { listingsSeen } from './listings.ts';
export { writeExpiries } from './queries.ts';
export { seenFacts } from './read-facts.ts';
