import { composeSettings, movesDestination } from '../monitors/index.ts';
import type { OpenMonitor } from '../monitors/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings that are sent for a monitor that is stored, and where it will go. */
export type SentSettings = {
  readonly url: string;
  readonly settings: Fields;
  /** What settings that are not sent are then. */
  readonly base: Fields;
};

/**
 * The sent settings with the secrets as they will be: an absent name keeps what is stored, null removes it. Where a step would take something
 * secret to an origin that it did not go to before, nothing stored is kept, as everywhere: what was not sent again stays at home.
 * @throws Problem `invalid_input` when the settings are wrong
 */
export function withSecretsByName(edited: OpenMonitor, { url, settings, base }: SentSettings): Fields {
  const { secrets: sent, ...open } = settings;
  if (!isRecord(sent)) return settings;
  const after = composeSettings('api', base, { settings: open, topLevel: {} }).open;
  const { stored } = edited;
  const isMoved = movesDestination(stored, { protocol: 'api', url, settings: after });
  const kept = isMoved ? {} : secretsOf(edited.secrets);
  const secrets = Object.entries({ ...kept, ...sent }).filter(([, value]) => value !== null);
  return { ...open, secrets: secrets.length === 0 ? null : Object.fromEntries(secrets) };
}

/** The names of the secrets among opened secret settings, in their order. */
export function secretNames(secrets: Fields): readonly string[] {
  return Object.keys(secretsOf(secrets)).sort();
}

function secretsOf({ secrets }: Fields): Fields {
  return isRecord(secrets) ? secrets : {};
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
