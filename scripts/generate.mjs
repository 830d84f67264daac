// Generates packages/wire/src/generated from proto/. With --check nothing is written: exit 1 and the names when it would differ.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, existsSync, cpSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const target = path.join(root, 'packages/wire/src/generated');
const options = [
  'outputServices=grpc-js',
  'esModuleInterop=true',
  'importSuffix=.ts',
  'enumsAsLiterals=true',
  'oneof=unions-value',
  'forceLong=bigint',
  'env=node',
  'removeEnumPrefix=true',
  'unrecognizedEnum=false',
  'outputJsonMethods=false',
  'outputPartialMethods=true',
  'exportCommonSymbols=false',
].join(',');

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .sort();
}

function generate(into) {
  const protos = filesBelow(path.join(root, 'proto')).filter((name) => name.endsWith('.proto'));
  execFileSync(
    path.join(root, 'node_modules/.bin/protoc'),
    [
      `--plugin=protoc-gen-ts_proto=${path.join(root, 'node_modules/.bin/protoc-gen-ts_proto')}`,
      `--ts_proto_out=${into}`,
      `--ts_proto_opt=${options}`,
      '-I',
      path.join(root, 'proto'),
      ...protos,
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}` },
    },
  );
}

const scratch = mkdtempSync(path.join(tmpdir(), 'parallax-generate-'));
try {
  generate(scratch);
  const made = filesBelow(scratch);
  if (process.argv.includes('--check')) {
    const kept = existsSync(target) ? filesBelow(target) : [];
    const stale = [...new Set([...made, ...kept])].filter(
      (name) =>
        !made.includes(name) ||
        !kept.includes(name) ||
        readFileSync(path.join(scratch, name), 'utf8') !== readFileSync(path.join(target, name), 'utf8'),
    );
    if (stale.length > 0) {
      console.error(`generated code differs from proto/: ${stale.join(', ')}\nrun: npm run generate`);
      process.exitCode = 1;
    } else console.log(`generated code: ${made.length} files agree with proto/`);
  } else {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    cpSync(scratch, target, { recursive: true });
    console.log(`generated ${made.length} files`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
