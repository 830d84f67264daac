// For `node --import`: writes the URLs of all modules that a process has loaded to its file descriptor 3 when it ends.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls = new Set<string>();
registerHooks({
  load(url, context, next) {
    urls.add(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(3, [...urls].join('\n')));
