// A file that the browser plays as it is, by ranges of the original bytes.
import type { Sign } from './recovery.ts';
import type { Source, SourceOptions } from './source.ts';

const NETWORK = 2;
const DECODE = 3;
/** Without a byte for so long, the connection is taken for lost. */
const STALL_MS = 12_000;

export interface DirectOptions extends SourceOptions {
  /** How the server answers a request of the first byte; the media element does not say it. */
  look(): Promise<Sign | undefined>;
}

export function directSource({ video, url, positionMs, fault, look }: DirectOptions): Source {
  const ends = new AbortController();
  const { signal } = ends;
  let startMs = positionMs;
  let stalled: ReturnType<typeof setTimeout> | undefined;

  const failed = async (): Promise<void> => {
    const { error } = video;
    if (!error || signal.aborted) return;
    if (error.code === DECODE && !/READ|NETWORK/.test(error.message)) return fault({ kind: 'decode' });
    const sign = await look();
    if (signal.aborted) return;
    if (sign) fault(sign);
    else fault(error.code === NETWORK || video.readyState > 0 ? { kind: 'network' } : { kind: 'refused' });
  };

  const watch = (): void => {
    clearTimeout(stalled);
    if (!video.paused && video.readyState < 3)
      stalled = setTimeout(
        () => void look().then((sign) => !signal.aborted && fault(sign ?? { kind: 'stalled' })),
        STALL_MS,
      );
  };

  video.addEventListener('loadedmetadata', () => seekTo(video, startMs), { signal });
  video.addEventListener('error', () => void failed(), { signal });
  for (const name of ['waiting', 'progress', 'playing', 'pause', 'timeupdate', 'stalled'])
    video.addEventListener(name, watch, { signal });

  const source: Source = {
    load(atMs) {
      startMs = atMs;
      video.src = url;
      video.load();
    },
    recoverMedia: () => source.load(video.currentTime * 1000),
    bandwidthBps: () => undefined,
    destroy() {
      ends.abort();
      clearTimeout(stalled);
      video.removeAttribute('src');
      video.load();
    },
  };
  source.load(positionMs);
  return source;
}

function seekTo(video: HTMLVideoElement, positionMs: number): void {
  if (positionMs > 0) video.currentTime = positionMs / 1000;
}
