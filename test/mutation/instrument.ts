import { at, textOf, walk } from './syntax.ts';
import type { Syntax } from './syntax.ts';
import type { MutatedFile, Site } from './mutants.ts';

/** Text that goes before and after a stretch of the source; `before` only where the stretch is empty. */
type Frame = { readonly start: number; readonly end: number; readonly before: string; readonly after: string };

/**
 * The source of a file that is any of its mutants, whichever `switch.ts` says, and that counts its steps. Lines stay where they are.
 * @param firstId number of the file's first mutant
 * @param switchUrl where `switch.ts` is
 */
export function instrument({ source, tree, sites }: MutatedFile, firstId: number, switchUrl: string): string {
  let id = firstId;
  const frames: Frame[] = [...steps(tree)];
  for (const site of sites) {
    frames.push(frameOf(site, id));
    id += site.mutants.length;
  }
  const names = '{ active as $active, covered as $covered, step as $step }';
  return `import ${names} from ${JSON.stringify(switchUrl)};${textOf(framed(source, frames))}`;
}

function frameOf({ start, end, isStatement, mutants }: Site, id: number): Frame {
  if (isStatement) return { start, end, before: `{if($active!==${id}){$covered[${id}]=1;`, after: '}}' };
  const last = id + mutants.length - 1;
  const isOther = last === id ? `$active!==${id}` : `$active<${id}||$active>${last}`;
  const choices = mutants.map(({ source }, index) =>
    index === mutants.length - 1 ? `(${source})` : `$active===${id + index}?(${source}):`,
  );
  return { start, end, before: `(${isOther}?($covered[${id}]=1,`, after: `):${choices.join('')})` };
}

/** Every turn of a loop and every call of a function with a block is a step. */
function* steps(tree: Syntax): Generator<Frame> {
  for (const node of walk(tree)) {
    const body = at(node, 'body');
    const isLoop = /^(For|ForIn|ForOf|While|DoWhile)Statement$/.test(node.type);
    const isFunction = /(Function|Method|Constructor|Arrow)/.test(node.type);
    if (body === undefined || (!isLoop && !isFunction)) continue;
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody') {
      yield { start: body.start + 1, end: body.start + 1, before: '$step();', after: '' };
    } else if (isLoop) {
      yield { start: body.start, end: body.end, before: '{$step();', after: '}' };
    }
  }
}

/** Puts frames around what they enclose; they are nested or apart. */
function framed(source: string, frames: readonly Frame[]): string {
  // What is empty comes first, then outer ones; of equal ones the first that was given is outside.
  const isEmpty = ({ start, end }: Frame): number => (start === end ? 0 : 1);
  const ordered = frames.toSorted((a, b) => a.start - b.start || isEmpty(a) - isEmpty(b) || b.end - a.end);
  const open: Frame[] = [];
  let text = '';
  let done = 0;
  const copyTo = (offset: number): void => {
    text += source.slice(done, offset);
    done = offset;
  };
  const closeUntil = (offset: number): void => {
    for (let last = open.at(-1); last !== undefined && last.end <= offset; last = open.at(-1)) {
      copyTo(last.end);
      text += last.after;
      open.pop();
    }
  };
  for (const frame of ordered) {
    closeUntil(frame.start);
    copyTo(frame.start);
    text += frame.before;
    if (frame.start < frame.end) open.push(frame);
  }
  closeUntil(source.length);
  return text + source.slice(done);
}
