import type { Setting, SettingsDefinition } from './define.ts';

/** The markdown table of every variable, its default and its meaning, in the order of the definition. */
export function settingsTable(definition: SettingsDefinition): string {
  const rows = Object.entries<Setting>(definition.settings).map(
    ([key, setting]) => `| \`${definition.prefix}${key}\` | ${shownDefault(setting)} | ${cell(setting.meaning)} |`,
  );
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

function shownDefault(setting: Setting): string {
  if (setting.defaultMeaning !== undefined) return cell(setting.defaultMeaning);
  return setting.default === undefined ? 'unset' : `\`${cell(setting.default)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
