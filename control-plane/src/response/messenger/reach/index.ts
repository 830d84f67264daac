export { isLinkedChat, mayTellChat } from './queries.ts';
