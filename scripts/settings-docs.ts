// The text of docs/settings.md, from the definitions of the settings.
import { agentSettings, controlPlaneSettings, settingsTable } from '@parallax/settings';

export const text = `# Settings

Made from the definitions by \`npm run settings-docs\`. Every variable can also be read from a file: the same name with the suffix
\`_FILE\` holds its path. An unknown name that begins with \`PARALLAX_\` is an error.

\`--config FILE\`, or \`PARALLAX_CONFIG_FILE\` (for the probe agent \`PARALLAX_PROBE_CONFIG_FILE\`), names a file of lines \`NAME=value\`,
as systemd and Compose read them. What the environment names wins over the file, and a flag over both.

Name canaries where the gateway stays up when the line behind it is cut: without them such a cut looks like an outage of the targets.

## Control plane

${settingsTable(controlPlaneSettings)}

## Probe agent

Also as flags of the same names: \`PARALLAX_PROBE_STATE_DIR\` is \`--state-dir\`.

${settingsTable(agentSettings)}
`;
