// Reads a text track outside the page's main thread and answers with the cues around a moment.
import { CueTrack } from './track.ts';
import { type RawCue, VttReader } from './vtt.ts';
import { type CueWindow, windowOf } from './window.ts';

/** To the worker: bytes of the file, its end, or a moment whose window is needed. */
export type ToCues = { bytes: Uint8Array<ArrayBuffer> } | { isOver: true } | { ms: number };
/** From the worker: it takes more bytes, or no more; the window of the last requested moment. */
export type FromCues = { takesMore: boolean } | { window: CueWindow };

/** While a file is read, its cues appear this often. */
const PARTLY_MS = 500;

const reader = new VttReader();
const decoder = new TextDecoder();
let track = new CueTrack<RawCue>([]);
let [wanted, builtAt]: [number | undefined, number] = [undefined, 0];

const post = (message: FromCues): void => postMessage(message);

function answer(): void {
  if (wanted !== undefined) post({ window: windowOf(track, wanted) });
}

function build(): void {
  track = new CueTrack(reader.cues);
  answer();
  builtAt = performance.now();
}

function take(bytes: Uint8Array): void {
  reader.push(decoder.decode(bytes, { stream: true }));
  if (performance.now() - builtAt > PARTLY_MS) build();
  post({ takesMore: !reader.isFull });
}

addEventListener('message', ({ data }: MessageEvent<ToCues>) => {
  if ('bytes' in data) take(data.bytes);
  else if ('ms' in data) {
    wanted = data.ms;
    answer();
  } else {
    reader.end();
    build();
  }
});
