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
