import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from '../../source.ts';
import { SourceFault } from '../fault.ts';
import { Authorization } from './authorization.ts';
import { bytesOf, type Frame, headerOf, RtspParser, type RtspRequest, type RtspResponse } from './messages.ts';

const UNAUTHORIZED = 401;
/** Time in which a server ends a session; its connection is closed then. */
const CLOSE_MS = 500;
/** Requests without a response, of a server that sends packets alone. */
const MOST_WAITING = 8;
/** Requests that the server does not take. */
const MOST_UNSENT = 64 << 10;

export interface ConnectionOptions {
  credential: Credential | undefined;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
}

type Waiting = PromiseWithResolvers<RtspResponse>;

/** Requests and responses of RTSP on one connection, and the frames between them. */
export class RtspConnection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #parser = new RtspParser();
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = Promise.withResolvers<void>();
  #authorization: Authorization | undefined;
  #session: string | undefined;
  #sent = 0;
  #fault: Error | undefined;
  /** Receives each frame. */
  onFrame: (frame: Frame) => void = () => undefined;
  /** The connection ended. */
  onEnd: (fault: Error) => void = () => undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#end(new SourceFault('ended', error.message)));
    socket.on('close', () => {
      this.#end(new SourceFault('ended', 'the server closed the connection'));
      this.#closed.resolve();
    });
  }

  get local(): string {
    return this.#socket.localAddress ?? '';
  }

  get remote(): string {
    return this.#socket.remoteAddress ?? '';
  }

  /** The id of the session, which later requests carry. */
  set session(id: string) {
    this.#session = id;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The response, after one more try with the credential where the server requires it. */
  async request(request: RtspRequest): Promise<RtspResponse> {
    const response = await this.#send(request);
    const { credential } = this.#options;
    if (response.status !== UNAUTHORIZED || !credential) return response;
    this.#authorization = new Authorization(credential, response.headers.get('www-authenticate') ?? []);
    return this.#send(request);
  }

  /** Ends the connection, after a last request that frees what the server holds. */
  async close(last?: RtspRequest): Promise<void> {
    this.onFrame = () => undefined;
    this.#socket.resume();
    const late = sleep(CLOSE_MS);
    if (last) await Promise.race([this.request(last).catch(() => undefined), late]);
    this.#socket.end();
    await Promise.race([this.#closed.promise, late]);
    this.#socket.destroy();
  }

  #send(request: RtspRequest): Promise<RtspResponse> {
    if (this.#fault) return Promise.reject(this.#fault);
    const waiting: Waiting = Promise.withResolvers();
    try {
      this.#requireRoom();
      this.#waiting.set(this.#write(request), waiting);
    } catch (error) {
      waiting.reject(error);
    }
    return waiting.promise;
  }

  #requireRoom(): void {
    if (this.#socket.writableLength > MOST_UNSENT) throw new SourceFault('stalled', 'the server takes no requests');
    const [oldest] = this.#waiting;
    if (!oldest || this.#waiting.size < MOST_WAITING) return;
    this.#waiting.delete(oldest[0]);
    oldest[1].reject(new SourceFault('stalled', 'the server does not respond'));
  }

  #write({ method, url, headers }: RtspRequest): number {
    this.#sent += 1;
    const authorization = this.#authorization?.header(method, url);
    const all = {
      CSeq: String(this.#sent),
      ...this.#options.headers,
      ...(authorization && { Authorization: authorization }),
      ...(this.#session && { Session: this.#session }),
      ...headers,
    };
    this.#socket.write(bytesOf({ method, url, headers: all }));
    return this.#sent;
  }

  #read(chunk: Buffer): void {
    try {
      for (const item of this.#parser.push(chunk)) {
        if ('packet' in item) this.onFrame(item);
        else this.#answered(item);
      }
    } catch (error) {
      this.#end(error as Error);
      this.#socket.destroy();
    }
  }

  /** Requests of the server, and responses that no one waits for, are passed over. */
  #answered(response: RtspResponse): void {
    const number = Number(headerOf(response, 'cseq'));
    if (response.status < 200) return;
    this.#waiting.get(number)?.resolve(response);
    this.#waiting.delete(number);
  }

  #end(fault: Error): void {
    if (this.#fault) return;
    this.#fault = fault;
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
    this.onEnd(fault);
  }
}
