export { mayTellChat } from './queries.ts';
