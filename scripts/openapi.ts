// The text of openapi.json, from the routes.
import { describeRoutes } from '../control-plane/src/openapi-document.ts';

export const text = `${JSON.stringify(describeRoutes(), null, 2)}\n`;
