// Loads a text track: the page passes its bytes to a worker, which reads them, and has the cues around the playhead.
import type { FromCues, ToCues } from './cues.worker.ts';
import type { Cue } from './vtt.ts';
import { Around } from './window.ts';

/** A larger file is shown as far as it was read. */
const MOST_BYTES = 64 * 2 ** 20;
/** SubStation is a text of the page until libass has it; the server has none that is larger. */
const MOST_TEXT = 24 * 2 ** 20;

/** A track that is being read or was. */
export interface TextTrack {
  /** The cues of a moment; none while they are not here yet. */
  at(ms: number): Cue[];
  destroy(): void;
}

export interface TextTrackHome {
  /** Other cues may be visible now. */
  changed(): void;
  /** The file or its reader failed; the cues until there stay. */
  failed(error: unknown): void;
}

/** Reads WebVTT from a response. */
export function textTrack(response: Response, { changed, failed }: TextTrackHome): TextTrack {
  const worker = new Worker(new URL('./cues.worker.ts', import.meta.url), { type: 'module' });
  const post = (message: ToCues, transfer: Transferable[] = []): void => worker.postMessage(message, transfer);
  const around = new Around((ms) => post({ ms }));
  let taken = Promise.withResolvers<boolean>();
  worker.addEventListener('message', ({ data }: MessageEvent<FromCues>) => {
    if ('window' in data) {
      around.take(data.window);
      changed();
    } else taken.resolve(data.takesMore);
  });
  worker.addEventListener('error', (event) => {
    event.preventDefault();
    taken.reject(new Error(event.message || 'the reader of subtitles ended'));
  });

  let isOver = false;
  const pass = async (): Promise<void> => {
    for await (const bytes of parts(response, MOST_BYTES)) {
      taken = Promise.withResolvers<boolean>();
      post({ bytes }, [bytes.buffer]);
      if (isOver || !(await taken.promise)) break;
    }
    post({ isOver: true });
  };
  pass().catch((error: unknown) => {
    if (!isOver) failed(error);
  });
  return {
    at: (ms) => around.at(ms),
    destroy() {
      isOver = true;
      taken.resolve(false);
      worker.terminate();
    },
  };
}

/** The body of a response, as far as it is kept; what the caller leaves is not loaded. */
export async function* parts(response: Response, most: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  try {
    for (let read = 0; read < most; ) {
      const part = await reader?.read();
      if (!part?.value) return;
      read += part.value.length;
      yield part.value;
    }
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
}

/** Reads a text, as far as it is kept at all. */
export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of parts(response, MOST_TEXT)) {
    signal.throwIfAborted();
    text += decoder.decode(bytes, { stream: true });
  }
  return text;
}
