import type { CheckContext } from '@parallax/checks';
import type { AgentSettings } from '@parallax/settings';

/** What of this machine its operator lets checks use. Plain data: it travels to the threads that run checks. */
export type MachineOptions = Pick<CheckContext, 'browser' | 'browserAccount' | 'dockerSockets'>;

/** The settings of the agent as checks take them. */
export function machineOptions(settings: AgentSettings): MachineOptions {
  const [uid, gid] = settings.browserUser?.split(':').map(Number) ?? [];
  return {
    browser: settings.browser,
    ...(settings.dockerSockets !== undefined && { dockerSockets: settings.dockerSockets }),
    ...(uid !== undefined && { browserAccount: { uid, gid: gid ?? uid } }),
  };
}
