// From the sources to executables: bundle, licences, and for each architecture a blob inside a copy of Node.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../install.mjs';
import { bundleAgent } from './bundle.mjs';
import { licenceText } from './licences.mjs';
import { nodePackage, pinnedNode } from './node-binary.mjs';

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * Builds the executables of the named architectures into a folder. What cannot be built is an error when it was asked for by name, and a
 * printed line otherwise. Files appear under their names when they are whole.
 */
export async function buildExecutables({ architectures, out, isExplicit, print }) {
  assertPinned();
  const startedMs = performance.now();
  const folder = path.resolve(root, out);
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, '.build-'));
  try {
    const bundle = await bundleAgent(path.join(work, 'probe-agent.cjs'));
    print(
      `bundled ${bundle.inputs.length} files of ${bundle.packages.length} packages, ${megabytes(statSync(bundle.file).size)}`,
    );
    const built = [];
    for (const arch of architectures) {
      try {
        built.push(buildOne({ arch, bundle, folder, work, print }));
      } catch (error) {
        if (isExplicit || arch === process.arch) throw error;
        print(`left out linux-${arch}: ${error.message}`);
      }
    }
    const [{ nodeLicence: licence } = {}] = built;
    if (licence === undefined) throw new Error('nothing could be built');
    const licences = path.join(folder, 'probe-agent-licenses.txt');
    writeFileSync(
      path.join(work, 'licenses'),
      licenceText(bundle.packages, { version: process.versions.node, licence }),
    );
    renameSync(path.join(work, 'licenses'), licences);
    print(`${path.relative(process.cwd(), licences)}: ${bundle.packages.length} packages, and Node`);
    print(`done in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function buildOne({ arch, bundle, folder, work, print }) {
  const isNative = process.platform === 'linux' && arch === process.arch;
  const base = nodePackage({ arch, work, cache: path.join(root, 'dist/.cache'), print });
  const blob = makeBlob({ main: bundle.file, blob: path.join(work, `${arch}.blob`), isNative });
  const name = `probe-agent-linux-${arch}`;
  const unfinished = path.join(work, name);
  copyFileSync(path.join(base, 'bin/node'), unfinished);
  chmodSync(unfinished, 0o755);
  inject(unfinished, blob);
  if (isNative) assertRuns(unfinished);
  const content = readFileSync(unfinished);
  const digest = createHash('sha256').update(content).digest('hex');
  const file = path.join(folder, name);
  renameSync(unfinished, file);
  writeFileSync(`${file}.sha256`, `${digest}  ${name}\n`);
  print(
    `${path.relative(process.cwd(), file)}: ${megabytes(content.length)}, SHA-256 ${digest}${isNative ? '' : ' (not run: another architecture)'}`,
  );
  return { file, nodeLicence: readFileSync(path.join(base, 'LICENSE'), 'utf8') };
}

/** The blob is read by the Node that it is put into, so both must be the pinned version. */
function assertPinned() {
  const { version } = pinnedNode(process.arch);
  if (process.versions.node !== version)
    throw new Error(
      `this is Node ${process.versions.node}, and the executable is made with the pinned ${version}: use npm run build:agent`,
    );
}

/** Compiled code is of use to the same architecture alone; it saves about 40 ms of each start. */
function makeBlob({ main, blob, isNative }) {
  const configuration = `${blob}.json`;
  const nodeOptions = JSON.parse(readFileSync(path.join(root, 'probe-agent/node-options.json'), 'utf8'));
  const content = {
    // Without its folder: the name is what a stack in somebody's log says.
    main: path.basename(main),
    output: path.basename(blob),
    disableExperimentalSEAWarning: true,
    // Threads that run checks are started from the text of the program, which they find under this name.
    assets: { 'probe-agent.cjs': path.basename(main) },
    useSnapshot: false,
    useCodeCache: isNative,
    // Options that somebody's NODE_OPTIONS has for other programs are none of the agent's.
    execArgvExtension: 'none',
    // What is new in memory would grow to 125 MB otherwise, for collections that come seldom and take long. And V8 would make what often
    // outlives a collection in the old part of the heap at once, which it decides for each place in the program: everything of a check
    // points to everything else of it, so that one such place makes the others look the same. In the end whole checks are made there, keep
    // what is new alive, and each collection takes 5 to 10 ms instead of 1.
    execArgv: nodeOptions,
  };
  writeFileSync(configuration, JSON.stringify(content));
  // With the same options: compiled code is refused by an engine that was told otherwise.
  const args = [...nodeOptions, '--experimental-sea-config', path.basename(configuration)];
  runNode(args, 'making the blob', path.dirname(main));
  return blob;
}

function inject(executable, blob) {
  const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  runNode([postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse], 'putting the blob into Node');
}

/** What these print is of interest when they fail alone: postject warns about every note of a Node that it reads. */
function runNode(args, what, cwd = root) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  try {
    execFileSync(process.execPath, args, { cwd, env, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    throw new Error(`${what} failed: ${error.stderr || error.message}`, { cause: error });
  }
}

/** With nothing in its environment it must say its version. */
function assertRuns(executable) {
  const { version } = JSON.parse(readFileSync(path.join(root, 'probe-agent/package.json'), 'utf8'));
  const said = execFileSync(executable, ['--version'], { env: {}, stdio: 'pipe', encoding: 'utf8' }).trim();
  if (said !== version)
    throw new Error(`the executable says that it is version ${said}, and probe-agent/package.json says ${version}`);
}
