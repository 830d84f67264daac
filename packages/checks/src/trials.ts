// What a machine is able to do, found out by trying. Apart from the check types, which are far more and which a diagnosis of the machine does not need.
export { hasRoute, type PingTrial, type TracerouteTrial, tryPing, tryTraceroute } from './capabilities.ts';
export { type SocketTrial, tryDockerSocket } from './docker/trial.ts';
export { findBrowser, tryBrowser } from './pagespeed/browser.ts';
