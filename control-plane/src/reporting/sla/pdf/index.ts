export { renderSlaPdf } from './gateway.ts';
export type { SlaPdfOptions } from './gateway.ts';
