import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OutboundWay } from './outbound-ways.ts';

export type Question = { readonly protocol: string; readonly url: string; readonly settings: object };

/** Runs a way's program with these questions; gives the codes that it printed. Rejects when the program fails. */
export async function askWay(way: OutboundWay, questions: readonly Question[]): Promise<readonly string[]> {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const { NODE_OPTIONS: _ours, ...env } = process.env;
  const child = spawn(process.execPath, [`${root}${way.program}`, ...way.args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: root,
    env,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  child.stdin.on('error', () => undefined);
  child.stdin.end(questions.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The way "${way.name}" ended with ${code}.`);
  return said.trim().split('\n');
}
