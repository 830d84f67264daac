export { createRequestGuards } from './gateway.ts';
