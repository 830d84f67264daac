import { ResultLog } from '../../../probe-agent/src/results/log.ts';
import { LogStream } from '../../../probe-agent/src/results/stream.ts';
import type { ResultRecord } from '@parallax/wire';

/** A stream of a probe's log. */
export type StreamName = { readonly epoch: number; readonly shard: number };

/** Told of what the logs of agents do, in the name of the process whose log it is. */
export type LogListener = {
  readonly appended: (stream: StreamName, seq: number, result: ResultRecord) => void;
  readonly synced: (stream: StreamName, seq: number) => void;
  readonly acknowledged: (stream: StreamName, seq: number) => void;
};

let listener: LogListener | undefined;

/** Who is told from now on; undefined: nobody. */
export function watchLogs(next: LogListener | undefined): void {
  listener = next;
}

/** A method as its class has it: what the product does is not changed, only seen. */
function methodOf<Owner extends object, Name extends keyof Owner & string>(prototype: Owner, name: Name): Owner[Name] {
  return Object.getOwnPropertyDescriptor(prototype, name)?.value as Owner[Name];
}

const append = methodOf(ResultLog.prototype, 'append');
ResultLog.prototype.append = function watched(this: ResultLog, ...given) {
  const seq = append.apply(this, given);
  const [shard, , result] = given;
  listener?.appended({ epoch: this.epoch, shard }, seq, result);
  return seq;
};

const addSynced = methodOf(LogStream.prototype, 'addSynced');
LogStream.prototype.addSynced = function watched(this: LogStream, ...given) {
  addSynced.apply(this, given);
  listener?.synced(this, given[0].seq);
};

const acknowledge = methodOf(LogStream.prototype, 'acknowledge');
LogStream.prototype.acknowledge = function watched(this: LogStream, ...given) {
  const isMoved = acknowledge.apply(this, given);
  if (isMoved) listener?.acknowledged(this, this.acknowledged);
  return isMoved;
};
