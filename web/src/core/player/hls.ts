// HLS by hls.js, which is loaded with the first stream that needs it.
import Hls, { type ErrorData, type HlsConfig, type LoaderResponse } from 'hls.js';
import workerPath from 'hls.js/dist/hls.worker.js?url';
import { refusalOf } from '../api/refusal.ts';
import { isUnreadable, type Sign } from './recovery.ts';
import type { Source, SourceOptions } from './source.ts';

/** The server holds the request of a segment for 30 seconds. */
const FIRST_BYTE_MS = 35_000;
const RETRIES = 17; // 0.5, 1, 2, 4, 4 … s: a minute
const PASSING = [0, 502, 503, 504];

const retry = {
  maxNumRetry: RETRIES,
  retryDelayMs: 500,
  maxRetryDelayMs: 4000,
  backoff: 'exponential' as const,
  shouldRetry: (
    config: { maxNumRetry: number } | null | undefined,
    count: number,
    isTimeout: boolean,
    response: LoaderResponse | undefined,
  ): boolean =>
    config !== null && config !== undefined && count < config.maxNumRetry && (isTimeout || isPassing(response)),
};
const isPassing = (response: LoaderResponse | undefined): boolean => PASSING.includes(response?.code ?? 0);

const policy = (firstByteMs: number, loadMs: number) => ({
  default: { maxTimeToFirstByteMs: firstByteMs, maxLoadTimeMs: loadMs, timeoutRetry: retry, errorRetry: retry },
});

const config: Partial<HlsConfig> = {
  enableWorker: false, // segments are fragmented MP4 already, and the first one would wait until the worker has started
  autoStartLoad: false, // begins at the position, which may change before the playlist is there
  renderTextTracksNatively: false,
  enableWebVTT: false,
  enableIMSC1: false,
  enableCEA708Captions: false,
  enableInterstitialPlayback: false,
  maxBufferLength: 30,
  maxMaxBufferLength: 60,
  backBufferLength: 30,
  fragLoadPolicy: policy(FIRST_BYTE_MS, 120_000),
  playlistLoadPolicy: policy(10_000, 20_000),
  manifestLoadPolicy: policy(10_000, 20_000),
};

/** For a broadcast: the server holds the request of a list until there is something new. */
export const liveConfig: Partial<HlsConfig> = {
  ...config,
  enableWorker: true, // MPEG-TS is repacked
  workerPath,
  autoStartLoad: true,
  enableWebVTT: true,
  liveSyncDurationCount: 2,
  backBufferLength: 60,
  playlistLoadPolicy: policy(25_000, 30_000),
};

/** The reason of the server for a request that it refused. */
async function refusal(request: unknown): Promise<Pick<Sign, 'code' | 'problem' | 'retryAfterSec'>> {
  const problem = await refusalOf(request).catch(() => undefined); // a status that no Response takes
  if (!problem || problem.code === 'not-foyer') return {};
  const { code, retryAfterSec } = problem;
  return { code, problem, ...(retryAfterSec !== undefined && { retryAfterSec }) };
}

async function signOf({ type, details, response, frag, networkDetails }: ErrorData): Promise<Sign> {
  if (type === Hls.ErrorTypes.MEDIA_ERROR || type === Hls.ErrorTypes.MUX_ERROR) {
    const refused = ['manifestIncompatibleCodecsError', 'bufferAddCodecError', 'bufferIncompatibleCodecsError'];
    return { kind: refused.includes(details) ? 'refused' : 'decode' };
  }
  const end = frag && (frag.start + frag.duration) * 1000;
  const place = end === undefined ? {} : { segmentEndMs: end };
  return { kind: 'network', status: response?.code ?? 0, ...place, ...(await refusal(networkDetails)) };
}

export function hlsSource({ video, url, positionMs, fault, shaky }: SourceOptions): Source {
  if (!Hls.isSupported()) return nativeSource({ video, url, positionMs, fault, shaky });
  const hls = new Hls(config);
  let startMs = positionMs;
  let isOpen = true;
  hls.on(Hls.Events.ERROR, (_event, data) => {
    if (!data.fatal && data.type === Hls.ErrorTypes.NETWORK_ERROR) shaky();
    void signOf(data).then((sign) => {
      if (!isOpen || !(data.fatal || isUnreadable(sign))) return;
      if (!data.fatal) hls.stopLoad(); // it would request the segment again
      fault(sign);
    });
  });
  // A load of another source may come before the first playlist is there.
  hls.on(Hls.Events.MANIFEST_PARSED, () => hls.startLoad(startMs / 1000));
  hls.loadSource(url);
  hls.attachMedia(video);
  return {
    load(atMs) {
      startMs = atMs;
      if (hls.levels.length === 0) hls.loadSource(url);
      else hls.startLoad(atMs / 1000);
    },
    recoverMedia: () => hls.recoverMediaError(),
    bandwidthBps: () => (hls.bandwidthEstimate > 0 ? Math.round(hls.bandwidthEstimate) : undefined),
    destroy() {
      isOpen = false;
      hls.destroy();
    },
  };
}

/** Browsers without Media Source Extensions play the playlist themselves. */
function nativeSource({ video, url, positionMs, fault }: SourceOptions): Source {
  const ends = new AbortController();
  let startMs = positionMs;
  const start = (): void => {
    if (startMs > 0) video.currentTime = startMs / 1000;
  };
  video.addEventListener('loadedmetadata', start, { signal: ends.signal });
  video.addEventListener('error', () => fault({ kind: 'network', status: 404 }), { signal: ends.signal });
  video.src = url;
  return {
    load(atMs) {
      startMs = atMs;
      video.src = url;
      video.load();
    },
    recoverMedia: () => video.load(),
    bandwidthBps: () => undefined,
    destroy() {
      ends.abort();
      video.removeAttribute('src');
      video.load();
    },
  };
}
