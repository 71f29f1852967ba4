// Loads a text track without a long task: the bytes are read as they arrive, in short turns.
import { CueTrack } from './track.ts';
import { VttReader } from './vtt.ts';

/** A larger file is shown as far as it was read. */
const MOST_BYTES = 64 * 2 ** 20;
const PIECE = 32 * 1024;
const TURN_MS = 12;
const PARTLY_MS = 1500;

const nextTurn = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Reads WebVTT from a response; `partly` gets what is there when a large file takes its time. */
export async function readVtt(
  response: Response,
  signal: AbortSignal,
  partly: (track: CueTrack) => void,
): Promise<CueTrack> {
  const reader = new VttReader();
  const decoder = new TextDecoder();
  let [read, began] = [0, performance.now()];
  let shown = began;
  const bytes = response.body?.getReader();
  for (;;) {
    const part = await bytes?.read();
    signal.throwIfAborted();
    if (!part?.value || read > MOST_BYTES || reader.isFull) break;
    read += part.value.length;
    for (let at = 0; at < part.value.length; at += PIECE) {
      reader.push(decoder.decode(part.value.subarray(at, at + PIECE), { stream: true }));
      if (performance.now() - began < TURN_MS) continue;
      await nextTurn();
      signal.throwIfAborted();
      began = performance.now();
      if (began - shown < PARTLY_MS) continue;
      partly(new CueTrack(reader.cues));
      shown = performance.now();
    }
  }
  void bytes?.cancel();
  return new CueTrack(reader.end());
}

/** Reads a text, as far as it is kept at all. */
export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  const bytes = response.body?.getReader();
  let [text, read] = ['', 0];
  for (;;) {
    const part = await bytes?.read();
    signal.throwIfAborted();
    if (!part?.value || read > MOST_BYTES) break;
    read += part.value.length;
    text += decoder.decode(part.value, { stream: true });
  }
  void bytes?.cancel();
  return text;
}
