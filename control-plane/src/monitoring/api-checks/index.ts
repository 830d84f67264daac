export { apiCheckRoutes } from './routes.ts';
