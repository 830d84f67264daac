// The documents that are made from the code: the one list, for the script that writes them and for the gate that compares them.

/**
 * By name: the file, what it is made from, the npm script that writes it, and the module
 * in scripts/ that exports its `text`. Only data, so that tools that follow imports do not read the control plane once more because of it.
 */
export const documents = {
  schema: {
    file: 'schema.sql',
    madeFrom: 'the migrations',
    script: 'schema',
    module: 'schema.ts',
  },
  openapi: {
    file: 'openapi.json',
    madeFrom: 'the routes',
    script: 'openapi',
    module: 'openapi.ts',
  },
  settings: {
    file: 'docs/settings.md',
    madeFrom: 'the definitions',
    script: 'settings-docs',
    module: 'settings-docs.ts',
  },
  checks: {
    file: 'docs/checks.md',
    madeFrom: 'the registry',
    script: 'checks-docs',
    module: 'checks-docs.ts',
  },
  channels: {
    file: 'docs/channels.md',
    madeFrom: 'the registry',
    script: 'channels-docs',
    module: 'channels-docs.ts',
  },
  messages: {
    file: 'docs/messages.md',
    madeFrom: 'the samples',
    script: 'messages-docs',
    module: 'messages-docs.ts',
  },
};
