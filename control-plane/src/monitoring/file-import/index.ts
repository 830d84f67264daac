export { readImportFile } from './gateway.ts';
export { importFile } from './import.ts';
