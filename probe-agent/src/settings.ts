import { agentSettings, readSettings } from '@parallax/settings';
import type { AgentSettings, Environment } from '@parallax/settings';

/** Flags of the command line in camel case, as commander gives them. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** The agent's settings from flags and environment; a flag wins. Throws a SettingsError that names everything that is wrong. */
export function agentConfiguration(env: Environment, flags: Flags): AgentSettings {
  const overrides: Record<string, string> = {};
  for (const [flag, value] of Object.entries(flags)) {
    const key = flag.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    if (typeof value === 'string' && Object.hasOwn(agentSettings.settings, key)) overrides[key] = value;
  }
  return readSettings(agentSettings, env, overrides);
}

/** For what may run before a join token is there, or long after its file is gone. */
export type WithLateToken = {
  /** Without a join token from a file; one that was given directly is there. */
  readonly settings: AgentSettings;
  /** Reads the join token as it is now; undefined when none was named. Throws a SettingsError when its file cannot be read or is empty. */
  readonly readJoinToken: () => string | undefined;
};

const tokenFile = 'PARALLAX_PROBE_JOIN_TOKEN_FILE';

/**
 * The agent's settings, and the join token apart when it comes from a file: a registered probe needs none, and one that starts together
 * with its control plane may be there before the file is. Throws like `agentConfiguration` for everything else.
 */
export function configurationWithLateToken(env: Environment, flags: Flags): WithLateToken {
  const isLate = Boolean(env[tokenFile]) && !env['PARALLAX_PROBE_JOIN_TOKEN'] && !flags['joinToken'];
  return {
    settings: agentConfiguration(isLate ? { ...env, [tokenFile]: undefined } : env, flags),
    readJoinToken: () => agentConfiguration(env, flags).joinToken,
  };
}
