import { atEnd } from './stores.ts';

interface Envelope {
  id: string;
  event: string;
  at: string;
  payload: Record<string, unknown>;
}

export interface ReceivedEvent {
  id: string;
  event: string;
  data: Envelope;
}

/** Reads a stream of server-sent events as a browser does. */
export class EventReader {
  readonly events: ReceivedEvent[] = [];
  readonly headers: Headers;
  text = '';
  closed = false;
  /** The last id that was sent, with or without an event. */
  position: string | undefined;
  readonly #abort: AbortController;
  #rest = '';

  private constructor(headers: Headers, abort: AbortController) {
    this.headers = headers;
    this.#abort = abort;
    atEnd(() => this.close());
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(url, { headers, signal: abort.signal });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const reader = new EventReader(response.headers, abort);
    void reader.#read(response);
    return reader;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        this.#take(decoder.decode(chunk, { stream: true }));
    } catch {
      // cut off, or closed by us
    }
    this.closed = true;
  }

  #take(text: string): void {
    this.text += text;
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#block(block);
  }

  #block(block: string): void {
    const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
    const field = (name: string) => fields.find(([, key]) => key === name)?.[2];
    this.position = field('id') ?? this.position;
    const data = field('data');
    if (data)
      this.events.push({ id: field('id') ?? '', event: field('event') ?? '', data: JSON.parse(data) as Envelope });
  }
}
