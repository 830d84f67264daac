export { retireOthers, withSuccessor } from './key-file.ts';
export { startKeyWatch } from './key-watch.ts';
export { rotateKey } from './rotate.ts';
