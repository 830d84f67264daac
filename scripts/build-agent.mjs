// Makes the probe agent one file that needs nothing else: npm run build:agent [-- --arch x64 --out folder].
import { parseArgs } from 'node:util';
import { buildExecutables } from './agent-executable/build.mjs';

const architectures = ['x64', 'arm64'];
const usage = `usage: npm run build:agent -- [--arch x64|arm64] [--out folder]

Bundles the probe agent and puts it into a copy of the pinned Node, one file for each architecture of Linux:

  --arch <name>   only this architecture (may be given again); all of ${architectures.join(', ')} by default, and one whose Node
                  cannot be had is then left out with a note
  --out <folder>  where the files go; dist by default
  --help          this text

Writes probe-agent-linux-<arch>, its SHA-256 in probe-agent-linux-<arch>.sha256, and probe-agent-licenses.txt, which goes with the file
wherever it is given to others. Nothing is fetched but the Node of another architecture, from the npm registry, checked against
package-lock.json and kept in dist/.cache.`;

try {
  const { arch = [], out, help } = options();
  if (help) console.log(usage);
  else
    await buildExecutables({
      architectures: arch.length > 0 ? arch : architectures,
      out,
      isExplicit: arch.length > 0,
      print,
    });
} catch (error) {
  console.error(`build:agent: ${error.message}`);
  process.exitCode = 1;
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        arch: { type: 'string', multiple: true },
        out: { type: 'string', default: 'dist' },
        help: { type: 'boolean', default: false },
      },
    });
    const unknown = values.arch?.find((name) => !architectures.includes(name));
    if (unknown !== undefined) throw new Error(`--arch ${unknown}: there are ${architectures.join(' and ')}`);
    return values;
  } catch (error) {
    console.error(`build:agent: ${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

function print(line) {
  console.log(line);
}
