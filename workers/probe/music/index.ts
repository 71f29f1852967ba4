import type { MusicTags, ProbedFile, ProbedStream } from '#platform/media.ts';
import { isAddress } from '#platform/media-bytes.ts';
import { codecStringOf } from '../codec-strings.ts';
import { usualLayout } from '../codecs/audio.ts';
import { readContent } from '../content/pool.ts';
import { PROBE_VERSION, type Probed } from '../probed.ts';
import { opusSeconds } from './opus-length.ts';
import type { Cover, Heard, MusicFile, Sound } from './read.ts';

/** Our codec names by the beginning of music-metadata's. */
const CODECS: readonly (readonly [begins: string, codec: string])[] = [
  ['MPEG 1 Layer 3', 'mp3'],
  ['MPEG 2 Layer 3', 'mp3'],
  ['MPEG 2.5 Layer 3', 'mp3'],
  ['FLAC', 'flac'],
  ['Opus', 'opus'],
  ['Vorbis', 'vorbis'],
  ['PCM', 'pcm'],
];

/** Containers with one stream whose facts music-metadata reads as exactly as ffprobe; all others are ffprobe's. */
const PLAIN = new Set(['mp3', 'flac', 'ogg', 'wav']);

interface Reading {
  signal?: AbortSignal | undefined;
  music?: MusicFile | undefined;
  read: () => Promise<Probed>;
}

/**
 * An audio file with its tags. `read` gives the streams of a container that music-metadata does not know exactly.
 * A file whose tags cannot be read has none; one whose streams cannot be read is faulty. `music` is the file as it was read already.
 */
export async function probeMusic(path: string, { signal, music: early, read }: Reading): Promise<Probed> {
  const found = early ?? (await readContent('music', path, signal));
  const plain =
    found.heard && PLAIN.has(found.sniffed.container) ? await plainFile(path, found, found.heard) : undefined;
  const probed = plain ? { file: plain } : await read();
  const music = found.heard?.tags ?? NO_TAGS;
  const after = isAddress(path) || !plain ? undefined : found.after; // of a copy it says nothing, and others are read longer
  return {
    ...probed,
    ...(after && { after }),
    file: { ...probed.file, tags: { ...probed.file.tags, ...textsOf(music) }, music },
  };
}

/** The tags as texts, which the details of a file show. */
function textsOf(music: MusicTags): Record<string, string> {
  const { title, album, track, disc, date, artists, albumArtists, genres, labels, composers } = music;
  const texts = {
    ...{ title, album, date, track, disc },
    ...{ artist: artists.join('; '), album_artist: albumArtists.join('; '), genre: genres.join('; ') },
    ...{ label: labels.join('; '), composer: composers.join('; ') },
  };
  const entries = Object.entries(texts).map(([name, value]) => [name, String(value ?? '')] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const NO_TAGS: MusicTags = {
  artists: [],
  albumArtists: [],
  compilation: false,
  genres: [],
  labels: [],
  composers: [],
  sorts: {},
  ids: {},
};

async function plainFile(
  path: string,
  { sniffed: { container }, size }: MusicFile,
  { sound, cover }: Heard,
): Promise<ProbedFile | undefined> {
  const codec = CODECS.find(([begins]) => sound.codec?.startsWith(begins))?.[1];
  const seconds = codec === 'opus' ? await opusSeconds(path) : sound.seconds;
  const durationMs = Math.round((seconds ?? 0) * 1000);
  if (codec === undefined || durationMs <= 0 || !sound.channels || !sound.sampleRate) return undefined;
  return {
    container,
    durationMs,
    startMs: 0,
    bitrate: Math.round((size * 8000) / durationMs),
    streams: [streamOf(codec, sound), ...(cover ? [coverStream(cover)] : [])],
    chapters: [],
    tags: {},
    probeVersion: PROBE_VERSION,
  };
}

/** ffmpeg counts the picture after the sound. */
function coverStream(codec: Cover): ProbedStream {
  const flags = { default: false, forced: false, hearingImpaired: false };
  return { index: 1, kind: 'video', codec, ...flags, attachedPicture: true };
}

function streamOf(codec: string, sound: Sound): ProbedStream {
  const channelLayout = usualLayout(sound.channels ?? 0);
  const codecString = codecStringOf({ codec });
  const lossless = codec === 'flac' || codec === 'pcm';
  return {
    index: 0,
    kind: 'audio',
    codec,
    default: false,
    forced: false,
    hearingImpaired: false,
    ...(sound.channels && { channels: sound.channels }),
    ...(sound.sampleRate && { sampleRate: Math.round(sound.sampleRate) }),
    ...(lossless && sound.bitDepth && { bitDepth: sound.bitDepth }),
    ...(sound.bitrate && { bitrate: Math.round(sound.bitrate) }),
    ...(channelLayout && { channelLayout }),
    ...(codecString && { codecString }),
  };
}
