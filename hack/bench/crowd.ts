// The clients of hack/bench/events.ts: sockets that follow streams, and the time when each received a mark. The parent process sends commands.
import { connect, type Socket } from 'node:net';
import { monotonicMs } from './measure.ts';

export interface Opening {
  port: number;
  streams: number;
  /** Access tokens, each for so many streams (`of`) one after the other; without any, the bare loop is measured. */
  tokens: readonly string[];
  of: number;
}

const AT_ONCE = 50;
const sockets: Socket[] = [];
let mark = '';
let times: number[] = [];

function heard(): void {
  times.push(monotonicMs());
  if (times.length === sockets.length) process.send?.({ answer: times });
}

async function one(port: number, token: string | undefined): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const path = token ? '/api/v1/events?types=settings.changed' : '/events';
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${token ? `authorization: Bearer ${token}\r\n` : ''}\r\n`);
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (text.includes('retry: 3000')) resolve();
      else if (/^HTTP\/1.1 [45]/.test(text)) reject(new Error(text.slice(0, 400)));
      if (mark && text.includes(mark)) heard();
    });
    socket.on('error', reject);
  });
}

async function open({ port, streams, tokens, of }: Opening): Promise<void> {
  const first = sockets.length;
  for (let i = first; i < first + streams; i += AT_ONCE) {
    const many = Math.min(AT_ONCE, first + streams - i);
    await Promise.all(Array.from({ length: many }, (_, j) => one(port, tokens[Math.floor((i + j) / of)])));
  }
}

process.on('message', (command: { open?: Opening; mark?: string }) => {
  if (command.mark !== undefined) {
    mark = command.mark;
    times = [];
    process.send?.({ answer: null });
    return;
  }
  if (command.open)
    open(command.open).then(
      () => process.send?.({ answer: null }),
      (error: Error) => process.send?.({ error: error.message }),
    );
});
