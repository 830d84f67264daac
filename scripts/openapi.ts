// Writes openapi.json from the routes; with --check compares and exits 1 when it differs.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeRoutes } from '../control-plane/src/openapi-document.ts';

const file = path.resolve(import.meta.dirname, '../openapi.json');
const text = `${JSON.stringify(describeRoutes(), null, 2)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
  console.log(`openapi.json: ${text.length} characters`);
} else if (readFileSync(file, 'utf8') === text) {
  console.log('openapi.json agrees with the routes');
} else {
  console.error('openapi.json differs from the routes\nrun: npm run openapi');
  process.exitCode = 1;
}
