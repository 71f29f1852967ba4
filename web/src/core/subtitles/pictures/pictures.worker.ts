// Reads and draws picture subtitles outside the page's main thread.
import { PictureReader, type PictureWindow, type Stretch } from './reader.ts';

/** To the worker: the bytes of a stretch, or a moment whose pictures are needed. */
export type ToPictures = { stretch: Stretch; bytes: Uint8Array<ArrayBuffer> } | { ms: number };
/** From the worker: a stretch as far as it was read, or the pictures of a moment. */
export type FromPictures = { read: Stretch } | { window: PictureWindow } | { unreadable: Stretch };

/** The stretch that plays, and the one after it. */
const MOST_STRETCHES = 2;

let readers: PictureReader[] = [];

const post = (message: FromPictures, transfer: Transferable[] = []): void => postMessage(message, { transfer });

function read(bytes: Uint8Array, stretch: Stretch): void {
  try {
    const reader = new PictureReader(bytes, stretch);
    readers = [...readers, reader].slice(-MOST_STRETCHES);
    post({ read: { fromMs: reader.fromMs, toMs: reader.toMs } });
  } catch {
    post({ unreadable: stretch });
  }
}

function draw(ms: number): void {
  const reader = readers.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
  const window = reader?.windowAt(ms) ?? { fromMs: ms, toMs: ms, pictures: [] };
  const buffers = window.pictures.flatMap(({ screen }) => screen?.parts.map(({ pixels }) => pixels.buffer) ?? []);
  post({ window }, buffers);
}

addEventListener('message', ({ data }: MessageEvent<ToPictures>) => {
  if ('ms' in data) draw(data.ms);
  else read(data.bytes, data.stretch);
});
