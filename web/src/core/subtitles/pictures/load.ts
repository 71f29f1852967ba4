// Loads picture subtitles: the page passes stretches of the track to a worker, which draws them.
import type { FoyerClient } from '../../../../../api/client/index.ts';
import { parts } from '../load.ts';
import { Ahead } from './ahead.ts';
import { MOST_BYTES } from './cis1.ts';
import type { FromPictures, ToPictures } from './pictures.worker.ts';
import type { Picture, Stretch } from './reader.ts';

export interface PictureTrackHome {
  api: Pick<FoyerClient, 'getSubtitleImages' | 'getSubtitleSync'>;
  track: { id: string; streamId: string };
  /** Another picture may be visible now. */
  changed(): void;
  /** A stretch failed: the first after one that was read. It is tried again while its pictures are needed. */
  failed(error: unknown): void;
}

export interface PictureTrack {
  at(ms: number): Picture | undefined;
  destroy(): void;
}

export function pictureTrack({ api, track, changed, failed }: PictureTrackHome): PictureTrack {
  const worker = new Worker(new URL('./pictures.worker.ts', import.meta.url), { type: 'module' });
  const post = (message: ToPictures, transfer: Transferable[] = []): void => worker.postMessage(message, transfer);
  const all = new AbortController();
  let loading = new AbortController();
  let version: Promise<string> | undefined;
  let isFailing = false;

  async function load(stretch: Stretch, signal: AbortSignal): Promise<void> {
    version ??= api.getSubtitleSync({ params: track, signal: all.signal }).then((sync) => sync.version);
    const query = { from: stretch.fromMs, to: stretch.toMs, v: await version };
    const response = await api.getSubtitleImages({ params: track, query, signal });
    const bytes = await bytesOf(response, signal);
    post({ stretch, bytes }, [bytes.buffer]);
    isFailing = false;
  }

  const ahead = new Ahead({
    now: () => performance.now(),
    draw: (ms) => post({ ms }),
    load(stretch) {
      loading.abort();
      loading = new AbortController();
      const { signal } = loading;
      load(stretch, signal).catch((error: unknown) => {
        if (signal.aborted || all.signal.aborted) return;
        version = undefined;
        ahead.failed();
        if (!isFailing) failed(error);
        isFailing = true;
      });
    },
  });
  worker.addEventListener('message', ({ data }: MessageEvent<FromPictures>) => {
    if ('window' in data) ahead.take(data.window);
    else if ('read' in data) ahead.read(data.read);
    else ahead.unreadable(data.unreadable);
    changed();
  });
  worker.addEventListener('error', (event) => {
    event.preventDefault();
    failed(new Error(event.message || 'the reader of subtitles ended'));
  });
  return {
    at: (ms) => ahead.at(ms),
    destroy() {
      all.abort();
      loading.abort();
      worker.terminate();
    },
  };
}

/** A longer stream is read as far as one may be. */
async function bytesOf(response: Response, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const read: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of parts(response, MOST_BYTES)) {
    signal.throwIfAborted();
    read.push(part);
  }
  return new Uint8Array(await new Blob(read).arrayBuffer());
}
