import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

/* What is checked when there is no C compiler: the same as target.c, as a Node process. Costs more, so it disturbs more. */

const body = 'x'.repeat(1_024);
const answer = `HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

let count = 0;
const server = createServer({ noDelay: true }, (socket) => {
  if (!/^(::ffff:)?127\./.test(socket.remoteAddress ?? '')) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  socket.once('data', () => {
    count += 1;
    socket.end(answer, 'latin1');
  });
});
server.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? (address?.port ?? 0) : 0}\n`);
});
const lines = createInterface({ input: process.stdin });
lines.on('line', () => process.stdout.write(`${count}\n`));
lines.on('close', () => process.exit(0));
