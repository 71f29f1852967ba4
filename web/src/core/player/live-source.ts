// A sliding HLS stream: times are those of the broadcast, Unix ms.
import Hls, { type Fragment } from 'hls.js';
import { liveConfig } from './hls.ts';
import type { Sign } from './recovery.ts';

/** Captions of the channel. */
export interface LiveCaption {
  /** Unique among those of the channel. */
  name: string;
  language: string | undefined;
}

export interface LiveSource {
  /** The time of the picture that is shown; undefined before the first one. */
  now(): number | undefined;
  seek(atMs: number): void;
  /** To the newest picture that plays without a pause. */
  toEdge(): void;
  /** Shows captions by their name, or none. */
  showCaption(name: string | undefined): void;
  destroy(): void;
}

export interface LiveSourceOptions {
  video: HTMLVideoElement;
  url: string;
  fault(sign: Sign): void;
  found(captions: LiveCaption[]): void;
}

/** The time of the broadcast on the clock of the media element. */
function placeOf(fragments: readonly Fragment[], atMs: number): number | undefined {
  const dated = fragments.filter((one) => one.programDateTime !== null);
  const last = dated.findLast((one) => (one.programDateTime ?? 0) <= atMs) ?? dated[0];
  if (!last) return undefined;
  const into = Math.min(Math.max(0, (atMs - (last.programDateTime ?? 0)) / 1000), last.duration);
  return last.start + into;
}

export function liveSource(options: LiveSourceOptions): LiveSource {
  return Hls.isSupported() ? hlsSource(options) : nativeSource(options);
}

const tracks = new WeakMap<HTMLVideoElement, TextTrack>();

/** The one track of the element: none can be removed from it, and those that hls.js makes load an empty file. */
function captionTrack(video: HTMLVideoElement): TextTrack {
  const track = tracks.get(video) ?? video.addTextTrack('captions');
  tracks.set(video, track);
  track.mode = 'hidden';
  return track;
}

function empty(track: TextTrack): void {
  for (const cue of [...(track.cues ?? [])]) track.removeCue(cue);
}

/** A segment that is read again has the same cues. */
function addCue(track: TextTrack, cue: VTTCue): void {
  const known = [...(track.cues ?? [])] as VTTCue[];
  if (!known.some(({ startTime, text }) => startTime === cue.startTime && text === cue.text)) track.addCue(cue);
}

function hlsSource({ video, url, fault, found }: LiveSourceOptions): LiveSource {
  const hls = new Hls(liveConfig);
  hls.on(Hls.Events.ERROR, (_event, { fatal, type, response }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR) hls.recoverMediaError();
    else fault({ kind: 'network', status: response?.code ?? 0 });
  });
  hls.on(Hls.Events.SUBTITLE_TRACKS_UPDATED, (_event, { subtitleTracks }) =>
    found(subtitleTracks.map(({ name, lang }) => ({ name, language: lang }))),
  );
  const texts = captionTrack(video);
  hls.on(Hls.Events.CUES_PARSED, (_event, { cues }) => {
    for (const cue of cues as VTTCue[]) addCue(texts, cue);
  });
  hls.loadSource(url);
  hls.attachMedia(video);
  const fragments = (): readonly Fragment[] => hls.latestLevelDetails?.fragments ?? [];
  return {
    now: () => hls.playingDate?.getTime(),
    seek(atMs) {
      const place = placeOf(fragments(), atMs);
      if (place !== undefined) video.currentTime = place;
    },
    toEdge() {
      const { liveSyncPosition } = hls;
      if (liveSyncPosition) video.currentTime = liveSyncPosition;
    },
    showCaption(name) {
      empty(texts);
      texts.mode = name === undefined ? 'hidden' : 'showing';
      hls.subtitleDisplay = name !== undefined;
      hls.subtitleTrack = hls.subtitleTracks.findIndex((one) => one.name === name);
    },
    destroy() {
      empty(texts);
      texts.mode = 'hidden';
      hls.destroy();
    },
  };
}

/** Browsers without Media Source Extensions know the date of the beginning. */
function nativeSource({ video, url, fault, found }: LiveSourceOptions): LiveSource {
  const dated = video as HTMLVideoElement & { getStartDate?(): Date };
  const begin = (): number => dated.getStartDate?.().getTime() ?? Number.NaN;
  const failed = (): void => fault({ kind: 'network', status: 404 });
  const texts = (): TextTrack[] =>
    [...video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions');
  const nameOf = ({ label, language }: TextTrack): string => label || language;
  const listed = (): void => found(texts().map((one) => ({ name: nameOf(one), language: one.language || undefined })));
  video.addEventListener('error', failed);
  video.textTracks.addEventListener('addtrack', listed);
  video.src = url;
  return {
    now: () => (Number.isNaN(begin()) ? undefined : begin() + video.currentTime * 1000),
    seek(atMs) {
      if (!Number.isNaN(begin())) video.currentTime = (atMs - begin()) / 1000;
    },
    toEdge() {
      const { seekable } = video;
      if (seekable.length > 0) video.currentTime = Math.max(0, seekable.end(seekable.length - 1) - 8);
    },
    showCaption(name) {
      for (const one of texts()) one.mode = nameOf(one) === name ? 'showing' : 'disabled';
    },
    destroy() {
      video.removeEventListener('error', failed);
      video.textTracks.removeEventListener('addtrack', listed);
      video.removeAttribute('src');
      video.load();
    },
  };
}
