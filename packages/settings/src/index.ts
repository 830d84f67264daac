export { defineSettings, type Setting, type SettingsDefinition, type SettingsOf } from './define.ts';
export { withConfigFile } from './config-file.ts';
export { explicitSettings, readSettings, SettingsError, type Environment } from './read.ts';
export { settingsTable } from './table.ts';
export { decodeKey, readNetworks } from './values.ts';
export * from './control-plane.ts';
export { agentSettings, type AgentSettings } from './agent.ts';
export { isLoopbackHost, isPublished } from './reach.ts';
