export { findPublishedPage, readPageView } from './page-view.gateway.ts';
