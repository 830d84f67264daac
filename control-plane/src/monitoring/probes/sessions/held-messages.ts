import type { AgentMessage } from '@parallax/wire';
import type { SessionCall } from './outbound.ts';

export type HeldMessages = ReturnType<typeof holdMessages>;

/** Reads the first message of a stream and holds the others back until somebody takes them. */
export function holdMessages(call: SessionCall): {
  /** The first message; undefined when the stream ended, failed or stayed silent for so long. */
  readonly first: (withinMs: number) => Promise<AgentMessage | undefined>;
  readonly deliver: (onMessage: (message: AgentMessage) => void, onEnd: (reason: string) => void) => void;
} {
  let endReason: string | undefined;
  let onEnd: ((reason: string) => void) | undefined;
  const ended = (reason: string): void => {
    endReason ??= reason;
    onEnd?.(endReason);
  };
  call.on('cancelled', () => ended('the connection was lost'));
  call.on('error', (error: Error) => ended(error.message));
  call.on('end', () => {
    ended('the agent has left');
    call.end();
  });
  return {
    first: (withinMs) =>
      new Promise((resolve) => {
        const done = (message: AgentMessage | undefined): void => {
          clearTimeout(timer);
          call.off('data', done);
          call.pause();
          onEnd = undefined;
          resolve(message);
        };
        const timer = setTimeout(done, withinMs, undefined);
        onEnd = () => done(undefined);
        if (endReason === undefined) call.on('data', done);
        else done(undefined);
      }),
    deliver: (onMessage, onEnded) => {
      onEnd = onEnded;
      if (endReason !== undefined) onEnded(endReason);
      call.on('data', onMessage);
      call.resume();
    },
  };
}
