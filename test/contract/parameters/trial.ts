import type { Test } from 'tap';
import type { TestAnswer } from '../../../control-plane/src/identity/testing.ts';
import type { World } from '../world.ts';
import type { Bounds } from './bounds.ts';
import type { Things } from './things.ts';

/** A value that was taken, and what came of it. */
export type Asked = {
  readonly t: Test;
  readonly world: World;
  readonly things: Things;
  /** As text; of a number of times the first. */
  readonly value: string;
  readonly answer: TestAnswer;
  /** The request that was made. */
  readonly prepared: Request;
};

/** What is sent beside the parameter that is tried. */
export type Request = {
  readonly path: string;
  /** Without a question mark. */
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Trial = {
  readonly bounds: Bounds;
  /** Values of the things, which are tried beside those of the bounds. */
  readonly more?: (things: Things) => readonly string[];
  /** The request in which the parameter shows what it does; in place of that of the endpoint. */
  readonly of?: (world: World, things: Things) => Promise<Request> | Request;
  /** What a value does, of every one that is taken. */
  readonly effect: (asked: Asked) => unknown;
};

/** The query parameters of an endpoint, each with what shows that it does something. */
export type EndpointTrials = {
  readonly of: (world: World, things: Things) => Promise<Request> | Request;
  readonly parameters: Readonly<Record<string, Trial>>;
};

/** The rows of a list, of an answer that must be one. */
export function rowsOf(answer: TestAnswer, name: string): readonly Record<string, unknown>[] {
  const rows = answer.body[name];
  if (answer.status !== 200 || !Array.isArray(rows)) throw new Error(`no ${name}: ${answer.status} ${answer.text}`);
  return rows as Record<string, unknown>[];
}

/** A page of a list, of which all rows are known by a field. */
export function isPage(
  { t, answer, value }: Asked,
  list: string,
  field: string,
  { all, kind, pageSize = 20 }: { all: readonly unknown[]; kind: 'page' | 'page_size'; pageSize?: number },
): void {
  const page = kind === 'page' ? Number(value) : 1;
  const size = kind === 'page' ? pageSize : Number(value);
  t.match(answer.body, { page, page_size: size, total: all.length }, `${kind}=${value} is told`);
  t.same(
    rowsOf(answer, list).map((row) => row[field]),
    all.slice((page - 1) * size, page * size),
    `${kind}=${value} has its rows`,
  );
}

/** Values of pages that have something on them, beside the bounds. */
export const fullPages = (): readonly string[] => ['2', '3', '6', '7'];
/** Sizes that are neither bound. */
export const usualSizes = (): readonly string[] => ['20', '51'];
