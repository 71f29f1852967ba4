/** The thread that reads one guide: lines of COPY in batches, of which a few at a time wait for the caller. */
import { parentPort, workerData } from 'node:worker_threads';
import { newId } from '#platform/ids.ts';
import { channelOf, type GuideChannel, lineOf, type Programme, programmeOf } from './entries.ts';
import { textOfFile } from './open-guide.ts';
import { AHEAD, type Message, type Read, type Reading } from './reading.ts';
import { GuideRefused } from './refused.ts';
import { type Element, XmltvReader } from './xmltv.ts';

/** Short texts that a collection of the young generation frees, here and in the caller. */
const BATCH = 100;
const MOST_CHANNELS = 50_000;
const MOST_PROGRAMS = 10_000_000;

const port = parentPort;
if (!port) throw new Error('reader-thread.ts runs as a thread');
const say = (message: Message): void => port.postMessage(message);
let ahead = 0;
let goOn: (() => void) | undefined;
port.on('message', () => {
  ahead -= 1;
  goOn?.();
});

class GuideReader {
  readonly #reading: Reading;
  readonly #channels = new Map<string, GuideChannel>();
  #lines: string[] = [];
  #programs = 0;
  #skipped = 0;
  #nextStartMs: number | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  async read(): Promise<Read> {
    const reader = new XmltvReader((entry) => this.#take(entry));
    for await (const text of textOfFile(this.#reading.path)) {
      reader.write(text);
      while (this.#lines.length >= BATCH) await this.#send(BATCH);
    }
    reader.end();
    await this.#send(BATCH);
    if (this.#programs === 0) throw new GuideRefused('empty', 'the guide holds no programme of these days');
    const [programs, skipped, nextStartMs] = [this.#programs, this.#skipped, this.#nextStartMs];
    return { channels: [...this.#channels.values()], programs, skipped, nextStartMs };
  }

  #take(entry: Element): void {
    if (entry.name === 'channel') this.#takeChannel(channelOf(entry));
    else this.#takeProgramme(programmeOf(entry, this.#reading.shiftMs));
  }

  #takeChannel(channel: GuideChannel | undefined): void {
    if (!channel) {
      this.#skipped += 1;
      return;
    }
    const known = this.#channels.get(channel.id);
    if (known?.names.length) return;
    if (!known && this.#channels.size >= MOST_CHANNELS)
      throw new GuideRefused('too_large', `the guide has over ${MOST_CHANNELS} channels`);
    const kept = structuredClone(channel); // its texts are parts of their chunk of the guide, which they would hold
    this.#channels.set(kept.id, kept);
  }

  #takeProgramme(programme: Programme | undefined): void {
    if (!programme) {
      this.#skipped += 1;
      return;
    }
    const { startMs, endMs = startMs, channel } = programme;
    if (startMs >= this.#reading.toMs) this.#nextStartMs = Math.min(this.#nextStartMs ?? startMs, startMs);
    if (endMs < this.#reading.fromMs || startMs >= this.#reading.toMs) return;
    if (!this.#channels.has(channel)) this.#takeChannel({ id: channel, names: [] }); // some guides name none
    this.#programs += 1;
    if (this.#programs > MOST_PROGRAMS) throw new GuideRefused('too_large', 'the guide has too many programmes');
    this.#lines.push(lineOf(programme, { n: this.#programs, id: newId() }));
  }

  async #send(count: number): Promise<void> {
    if (this.#lines.length === 0) return;
    const lines = this.#lines.slice(0, count).join('');
    this.#lines = this.#lines.slice(count);
    ahead += 1;
    say({ lines });
    while (ahead >= AHEAD)
      await new Promise<void>((done) => {
        goOn = done;
      });
  }
}

try {
  const done = await new GuideReader(workerData as Reading).read();
  say({ done });
} catch (error) {
  if (!(error instanceof GuideRefused)) throw error;
  say({ refused: { code: error.code, message: error.message } });
}
port.close();
