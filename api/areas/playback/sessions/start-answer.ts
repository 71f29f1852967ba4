import {
  findStreamRows,
  type MediaStream,
  subtitleFileName,
  toMediaStream,
  type VisibleItem,
} from '#areas/items/public.ts';
import { prerollsFor } from '#areas/streaming/public.ts';
import type { SessionRow } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { CandidateFile } from '../decision/candidates.ts';
import type { Choice } from '../decision/choose.ts';
import { isText } from '../decision/subtitle-plan.ts';
import type { Track } from '../decision/tracks.ts';
import type { Warning } from '../decision/warnings.ts';
import type { PlaybackStart } from '../playback.schemas.ts';
import { type Places, placesOf } from './places.ts';
import { toSession } from './session.view.ts';
import { nextItemId, readSidecars } from './start.view.ts';

export const KEEP_ALIVE_MS = 10_000;

export interface Started {
  item: VisibleItem;
  choice: Choice;
  resume: PlaybackStart['resume'];
  /** The client requested clips, and the profile allows them. */
  preroll?: boolean;
  /** Playback resumes at a stored position. */
  resumes?: boolean;
}

/** Everything that a player needs to start. */
export async function toStart(
  call: Call,
  started: Started & { row: SessionRow; places: Places | undefined },
): Promise<PlaybackStart> {
  const warnings = warningsOf(started.choice, started.places);
  return { ...(await common(call, started)), warnings, session: toSession(started.row, call.who) };
}

/** The decision of a dryRun, which opens nothing. */
export async function dryStart(call: Call, started: Started): Promise<PlaybackStart> {
  const { item, choice } = started;
  const { file, decision } = choice;
  return {
    ...(await common(call, started)),
    warnings: warningsOf(choice, choice.stream && (await placesOf(call))),
    session: drySession(call, { itemId: item.id, fileId: file.id, durationMs: file.durationMs || null, decision }),
  };
}

interface Decided {
  itemId: string;
  fileId: string;
  durationMs: number | null;
  decision: PlaybackStart['session']['decision'];
}

/** The session of a dryRun, which is none. */
export function drySession({ who, now, client }: Call, decided: Decided): PlaybackStart['session'] {
  const { itemId, fileId, durationMs, decision } = decided;
  const at = now.toISOString();
  return {
    id: '00000000-0000-0000-0000-000000000000',
    userId: who.accountId,
    profileId: who.profileId,
    itemId,
    mediaFileId: fileId,
    state: 'stopped',
    positionMs: 0,
    durationMs,
    rate: 1,
    decision,
    url: '',
    transcodeSessionId: null,
    client: { deviceId: who.deviceId ?? null, name: client.name ?? null, platform: null },
    isRemote: !client.local,
    castDeviceId: null,
    roomId: null,
    queueId: null,
    startedAt: at,
    lastReportAt: at,
    stoppedAt: null,
    stopReason: null,
  };
}

type Common = Omit<PlaybackStart, 'session' | 'warnings'>;

async function common(call: Call, { item, choice, resume, preroll, resumes = false }: Started): Promise<Common> {
  const { db } = call;
  const { file } = choice;
  const { trickplay, ...sidecars } = await readSidecars(db, item.id, file);
  const next = await nextItemId(db, call.who, item.id);
  return {
    resume,
    subtitles: subtitlesOf(item.id, file),
    audio: await audioOf(call, file),
    ...sidecars,
    ...(trickplay && { trickplayUrl: `/api/v1/files/${file.id}/trickplay` }),
    ...(next && { nextItemId: next }),
    preroll: preroll ? await prerollsFor(call, { libraryId: item.libraryId, itemType: item.type, resumes }) : [],
    keepAliveMs: KEEP_ALIVE_MS,
  };
}

/** Warnings of the decision, and one when this session takes the last worker slot. */
function warningsOf({ warnings }: Choice, places: Places | undefined): Warning[] {
  const low = places && places.taken + 1 >= places.most;
  return low ? [...warnings, 'transcode-slots-low'] : warnings;
}

async function audioOf({ db }: Call, file: CandidateFile): Promise<MediaStream[]> {
  const rows = await findStreamRows(db, [file.id]);
  return rows.filter((row) => row.kind === 'audio').map(toMediaStream);
}

function subtitlesOf(itemId: string, file: CandidateFile): PlaybackStart['subtitles'] {
  return file.tracks
    .filter((track) => track.kind === 'subtitle')
    .map((track) => ({
      streamId: track.id,
      file: fileName(track),
      format: track.codec,
      ...(track.language && { language: track.language }),
      ...(track.title && { title: track.title }),
      forced: track.forced,
      hearingImpaired: track.hearingImpaired,
      default: track.default,
      url: isText(track)
        ? `/api/v1/items/${itemId}/subtitles/${encodeURIComponent(fileName(track))}?fileId=${file.id}`
        : '',
    }));
}

function fileName({ id, codec, kept = false, externalPath, index }: Track): string {
  return subtitleFileName({ id, codec, kept, external_path: externalPath ?? null, stream_index: index });
}
