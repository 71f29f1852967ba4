import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '#support/stores.ts';
import type { Machine } from './machine.ts';

const MOST_TRIES = 300;
const BODILESS = [204, 304];

/** Inode of the other end of a connection to 127.0.0.1; 0 until its process took it. */
function inodeOf({ localPort, remotePort }: Socket): string | undefined {
  const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const theirs = lines.find((line) => line.includes(`:${hex(remotePort)} 0100007F:${hex(localPort)} `));
  const inode = theirs?.trim().split(/\s+/)[9];
  return inode === '0' ? undefined : inode;
}

function holds(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`) === `socket:[${inode}]`;
    } catch {
      return false; // closed meanwhile
    }
  });
}

/** The API processes of a machine, which share one port: requests over connections of their own, to any or to one of them. */
export class Replicas {
  readonly #machine: Machine;
  /** Answers of each, by name. */
  readonly answered = new Map<string, number>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  get names(): string[] {
    return Array.from({ length: this.#machine.apis }, (_, i) => `api-${i + 1}`);
  }

  /** fetch over a fresh connection, to whichever process the kernel gives it to. */
  readonly any: typeof fetch = async (input, init) => this.#fetch(undefined, new Request(input, init), init?.signal);

  /** fetch over a fresh connection to the one of that name. */
  at(name: string): typeof fetch {
    return async (input, init) => this.#fetch(name, new Request(input, init), init?.signal);
  }

  /** The answer of each of them to concurrent requests. */
  async each<T>(call: (send: typeof fetch, name: string) => Promise<T>): Promise<T[]> {
    return Promise.all(this.names.map((name) => call(this.at(name), name)));
  }

  /** `given` is the caller's own: the signal of a Request is not forwarded once the Request was collected. */
  async #fetch(name: string | undefined, incoming: Request, given?: AbortSignal | null): Promise<Response> {
    const body = Buffer.from(await incoming.arrayBuffer());
    const { socket, replica } = await this.#connection(name);
    if (socket.destroyed) throw new Error('the connection was cut');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...Object.fromEntries(incoming.headers), connection: 'close', 'content-length': body.length };
      const { method, url } = incoming;
      const signal = given ? { signal: given } : {};
      const sent = request(url, { method, headers, ...signal, createConnection: () => socket }, resolve);
      sent.on('error', reject).end(body);
    });
    this.answered.set(replica, (this.answered.get(replica) ?? 0) + 1);
    const { statusCode: status = 0, headers } = answer;
    const whole = Object.entries(headers).flatMap(([key, value]) =>
      [value ?? []].flat().map((one): [string, string] => [key, one]),
    );
    const stream = BODILESS.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream);
    if (!stream) answer.resume();
    return new Response(stream, { status, headers: whole });
  }

  /** The kernel deals new connections out by their ports: one that went elsewhere is let go. */
  async #connection(wanted: string | undefined): Promise<{ socket: Socket; replica: string }> {
    const port = Number(new URL(this.#machine.url).port);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const socket = connect(port, '127.0.0.1');
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      const replica = await this.#holderOf(socket);
      if (wanted === undefined || replica === wanted) return { socket, replica };
      socket.destroy();
    }
    throw new Error(`no connection to ${wanted}`);
  }

  async #holderOf(socket: Socket): Promise<string> {
    const cut = new Promise<never>((_, reject) => {
      socket.once('error', reject).once('close', () => reject(new Error('the connection was cut')));
    });
    const found = eventually(() => {
      if (socket.destroyed) throw new Error('the connection was cut');
      const inode = inodeOf(socket);
      return inode !== undefined && this.names.find((name) => holds(this.#machine.pidOf(name), inode));
    });
    return Promise.race([found, cut]);
  }
}
