export * from './problems.ts';
export * from './route.ts';
export * from './shared.ts';
