export { changedConsumer } from './changed.consumer.ts';
export { forgetOldPages, leavePagesOfDeleted, leavePagesOfMoved, removePagesOfWorkspace } from './hooks.queries.ts';
export { itemRoutes } from './items.routes.ts';
export { previewRoutes } from './preview.routes.ts';
export { pageRoutes } from './pages.routes.ts';
