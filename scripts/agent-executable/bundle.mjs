import path from 'node:path';
import { root } from '../install.mjs';
import { packagesOf } from './licences.mjs';

/**
 * Bundles the agent and everything it imports into one CommonJS file, the form that a single executable takes. Names are kept, since they
 * are what a stack in somebody's log has; spaces and comments are not, since the text stays in memory.
 */
export async function bundleAgent(file) {
  const { build } = await import('esbuild').catch((error) => {
    throw new Error('esbuild is not installed; install the dependencies of development too: npm ci', { cause: error });
  });
  const { metafile, warnings } = await build({
    absWorkingDir: root,
    entryPoints: ['probe-agent/src/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: 'none',
    metafile: true,
    logLevel: 'error',
    plugins: [withoutNativeParts],
  });
  // A warning of esbuild tells of something that works otherwise in the bundle, such as import.meta, which is empty there.
  if (warnings.length > 0)
    throw new Error(
      `the bundle would not run as the sources do: ${warnings.map(({ text, location }) => `${text} (${location?.file}:${location?.line})`).join('; ')}`,
    );
  const [output] = Object.values(metafile.outputs);
  const foreign = output.imports
    .filter(({ path: name, external }) => external && !isBuiltIn(name))
    .map(({ path: name }) => name);
  if (foreign.length > 0)
    throw new Error(`these would be looked for at run time, and are not there: ${foreign.join(', ')}`);
  const inputs = Object.entries(output.inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([name]) => path.resolve(root, name));
  return { file, inputs, packages: packagesOf(inputs) };
}

/**
 * Native code is of one machine and cannot be inside the bundle. Packages that have such parts (ssh2, ws) try to load them and go on in
 * JavaScript where that throws, as it does here. One that does not try would fail when it is used, so the names are listed.
 */
const nativeParts = /^(?:cpu-features|bufferutil|utf-8-validate)$|\/sshcrypto\.node$/;
const withoutNativeParts = {
  name: 'without native parts',
  setup(build) {
    build.onResolve({ filter: nativeParts }, ({ path: name }) => ({
      path: name,
      namespace: 'native-part',
    }));
    build.onLoad({ filter: /.*/, namespace: 'native-part' }, ({ path: name }) => ({
      contents: `throw new Error(${JSON.stringify(`${name} is not part of the executable`)});`,
      loader: 'js',
    }));
  },
};

const isBuiltIn = (name) => process.getBuiltinModule(name) !== undefined;
