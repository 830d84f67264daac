import type { TestContext } from '@parallax/testkit';
import type { AnySettings, Channel } from '../channel.ts';
import { type SeenRequest, type StandInAnswer, startStandIn } from './stand-in.ts';
import { type Trial, type TrialResult, tryChannel } from './try-channel.ts';

type Answered = Omit<Trial, 'settings' | 'baseUrl'> & {
  readonly settings: (baseUrl: string) => AnySettings;
  /** What the server answers; by default 200 with `{}`. */
  readonly answer?: StandInAnswer | ((request: SeenRequest) => StandInAnswer);
};

/** Sends one message to a server that knows nothing and answers as it is told: for what a kind makes of an answer. */
export async function answered<Settings extends AnySettings, Content>(
  t: TestContext,
  channel: Channel<Settings, Content>,
  { settings, answer = { status: 200, json: {} }, ...trial }: Answered,
): Promise<TrialResult & { readonly seen: readonly SeenRequest[] }> {
  const running = await startStandIn(t, {
    channel: channel.name,
    documents: [],
    settings,
    target: trial.target,
    handle: (request) => (typeof answer === 'function' ? answer(request) : answer),
    troubles: {},
  });
  const result = await tryChannel(channel, { ...trial, settings: settings(running.baseUrl), baseUrl: running.baseUrl });
  return { ...result, seen: running.seen };
}
